"""What the words `mcp` and `evidence` of the command do: a server for agents, and where a number
comes from. Only `_server` needs the package mcp."""
