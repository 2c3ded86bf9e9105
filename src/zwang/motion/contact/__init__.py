"""Motion with contacts: from mode to mode, through impacts, accumulations of impacts, and lifts."""
