# An agent on openai-agents with the tools of one MCP server.
import asyncio, os, sys
from agents import Agent, Runner, set_default_openai_api
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

if os.environ.get("AGENT_API") == "chat":
    set_default_openai_api("chat_completions")


async def main():
    shim = os.environ.get("PROOFHOUSE_MCP_COMMAND")
    if shim:
        server = MCPServerStdio({"command": shim, "args": ["mcp-shim", os.environ["PROOFHOUSE_MCP_URL"]]})
    else:
        server = MCPServerStreamableHttp({"url": os.environ["PROOFHOUSE_MCP_URL"]})
    async with server:
        agent = Agent(name="agent", instructions="You work with tools.", mcp_servers=[server], model="model")
        if os.environ.get("AGENT_STREAMS"):
            result = Runner.run_streamed(agent, sys.argv[1])
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, sys.argv[1])
        print(result.final_output)


asyncio.run(main())
