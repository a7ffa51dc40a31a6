"""Not here: importing it says what is."""

from borescope.hta._unsupported import refuse

refuse(__name__)
