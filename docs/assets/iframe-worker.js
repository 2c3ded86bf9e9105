// Browsers start no workers from files, and the site's search runs in one. Where a page was opened as a file, a hidden
// frame takes the worker's place: the same script, the same messages.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((resolve) => { this.begin = resolve; });
      addEventListener("message", (event) => {
        if (event.source !== frame.contentWindow) return;
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      });
      frame.addEventListener("load", () => this.begin(frame.contentWindow));
      const source = String(url).replace(/&/g, "&amp;").replace(/"/g, "&quot;");
      // A worker hears of messages in `message` and answers with `postMessage(data)`, to the page that made it.
      frame.srcdoc = `<script>self.postMessage = (data) => parent.postMessage(data, "*");</` +
        `script><script src="${source}"></` + `script>`;
      document.body.append(frame);
    }
    postMessage(data) {
      this.ready.then((worker) => worker.dispatchEvent(new worker.MessageEvent("message", { data })));
    }
    terminate() {}
  }
  window.IFrameWorker = window.Worker = IFrameWorker;
}
