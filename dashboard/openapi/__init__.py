"""The description of the JSON addresses: what may be asked, and the shape of every answer."""
