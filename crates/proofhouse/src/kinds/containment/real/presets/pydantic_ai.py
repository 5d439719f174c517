# An agent on pydantic-ai with the tools of one MCP server.
import os, sys
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

url = os.environ["PROOFHOUSE_MCP_URL"]
shim = os.environ.get("PROOFHOUSE_MCP_COMMAND")
tools = MCPToolset({"mcpServers": {"t": {"command": shim, "args": ["mcp-shim", url]}}} if shim else url)
agent = Agent(os.environ.get("AGENT_MODEL", "openai-chat:model"), toolsets=[tools])
print(agent.run_sync(sys.argv[1]).output)
