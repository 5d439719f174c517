# An agent on smolagents with the tools of one MCP server; it answers by its own tool `final_answer`.
import os, sys
from mcp import StdioServerParameters
from smolagents import MCPClient, OpenAIServerModel, ToolCallingAgent

url = os.environ["PROOFHOUSE_MCP_URL"]
shim = os.environ.get("PROOFHOUSE_MCP_COMMAND")
if shim:
    server = StdioServerParameters(command=shim, args=["mcp-shim", url], env=dict(os.environ))
else:
    server = {"url": url, "transport": "streamable-http"}
with MCPClient(server, structured_output=False) as tools:
    agent = ToolCallingAgent(tools=tools, model=OpenAIServerModel("model"), max_steps=8, verbosity_level=0)
    print(agent.run(sys.argv[1]))
