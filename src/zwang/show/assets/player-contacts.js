// ---- contacts: what each does at a time, and which shapes show it ----

// A contact `floor` lights the shapes `floor` and `floor line`; `floor.corner1` lights `floor`, too.
function contactsOf({ contacts = [], modeColors = {} }) {
  const modeAt = ({ spans, impacts }, t, flash) => {
    if (impacts.some((when) => t >= when && t - when < flash)) return "struck";
    let found = "open";
    for (const [mode, begin] of spans) {
      if (begin > t) break;
      found = mode;
    }
    return found;
  };
  const lights = (contact, shape) =>
    shape === contact || shape === `${contact} line` || contact.startsWith(`${shape}.`) ||
    (contact.includes(".") && shape === `${contact.slice(0, contact.lastIndexOf("."))} line`);
  return {
    all: contacts,
    now: (t, flash) => contacts.map((contact) => modeAt(contact, t, flash)),
    colour: (mode, dark) => modeColors[mode][dark ? 1 : 0],
    lit: (shape, modes) => modes.find((mode, i) => mode !== "open" && lights(contacts[i].name, shape)),
  };
}
