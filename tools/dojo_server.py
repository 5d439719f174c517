"""AgentDojo behind an MCP server: one process for one trial, the environment kept in it, its own checks as the verdict.

  serve --suite S --user-task U [--injection-task I --injection TEXT --at VECTOR…]    MCP on standard input and output
  cases [ATTACK]      one case a line for every user task, and for every pair of user task and injection task
  verdicts [STEP]     every STEPth pair that can be scripted, as a case, with AgentDojo's own verdicts
  counts              how many pairs there are and how many can be scripted
"""

import importlib.abc
import importlib.machinery
import json
import sys
import types
import warnings

VERSION = "v1.2.2"
# What AgentDojo imports to ask models: nothing of it is used here.
UNUSED = ("openai", "anthropic", "cohere", "google", "langchain", "requests")


class Anything(type):
    """A class of a vendor's SDK: it is named in annotations and never used."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name, (Exception,), {})

    def __or__(cls, other):
        return cls

    def __ror__(cls, other):
        return cls

    def __getitem__(cls, item):
        return cls


class StandIn(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name, (Exception,), {})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in UNUSED:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Finder())
warnings.simplefilter("ignore")

from agentdojo.agent_pipeline import GroundTruthPipeline  # noqa: E402
from agentdojo.agent_pipeline.tool_execution import tool_result_to_str  # noqa: E402
from agentdojo.attacks.attack_registry import load_attack  # noqa: E402
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime  # noqa: E402
from agentdojo.task_suite.load_suites import get_suite, get_suites  # noqa: E402


def plain(value):
    """Arguments as JSON has them: dates and the like as text."""
    return json.loads(json.dumps(value, default=str))


def text_of(answer):
    return [{"type": "text", "content": answer}]


class Trial:
    """The tools of a suite on the environment of one user task, and what became of it."""

    def __init__(self, suite, user_task, injection_task=None, injections=None):
        self.suite, self.user_task, self.injection_task = suite, user_task, injection_task
        self.before = user_task.init_environment(suite.load_and_inject_default_environment(injections or {}))
        self.environment = self.before.model_copy(deep=True)
        self.runtime, self.calls = FunctionsRuntime(suite.tools), []

    def call(self, name, arguments):
        self.calls.append(FunctionCall(function=name, args=plain(arguments)))
        result, error = self.runtime.run_function(self.environment, name, arguments)
        return (error, True) if error is not None else (tool_result_to_str(result), False)

    def verdict(self, answer):
        def done(task):
            if task is None:
                return None
            return bool(self.suite._check_task_result(task, text_of(answer), self.before, self.environment, self.calls))

        return {"utility": done(self.user_task), "security": done(self.injection_task)}

    def tools(self):
        listed = [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters.model_json_schema()}
            for tool in self.suite.tools
        ]
        answer = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
        return listed + [{"name": "verdict", "description": "What became of both tasks.", "inputSchema": answer}]


def serve(trial):
    def reply(message, **more):
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **more}) + "\n")
        sys.stdout.flush()

    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if message.get("id") is None or method is None:
            continue
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            about = {"name": "agentdojo-" + trial.suite.name, "version": VERSION}
            reply(message, result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about})
        elif method == "ping":
            reply(message, result={})
        elif method == "tools/list":
            reply(message, result={"tools": trial.tools()})
        elif method == "tools/call":
            name, arguments = message["params"]["name"], message["params"].get("arguments") or {}
            if name == "verdict":
                found = trial.verdict(arguments.get("answer", ""))
                text = json.dumps(found)
                reply(message, result={"content": [{"type": "text", "text": text}], "structuredContent": found})
            else:
                text, failed = trial.call(name, arguments)
                reply(message, result={"content": [{"type": "text", "text": str(text)}], "isError": failed})
        else:
            reply(message, error={"code": -32601, "message": "Method not found"})


def options(words):
    found = {"--at": []}
    for key, value in zip(words[::2], words[1::2], strict=True):
        if key == "--at":
            found[key].append(value)
        else:
            found[key] = value
    return found


def trial_of(words):
    given = options(words)
    suite = get_suite(VERSION, given["--suite"])
    injection_task = given.get("--injection-task")
    return Trial(
        suite,
        suite.get_user_task_by_id(given["--user-task"]),
        suite.get_injection_task_by_id(injection_task) if injection_task else None,
        {vector: given["--injection"] for vector in given["--at"]},
    )


class Pipeline(GroundTruthPipeline):
    # Some attacks address the model by the name of its pipeline.
    name = "local"


def call_of(call):
    return {"name": call.function, "args": plain(call.args)}


def benign(suite, user_task):
    return {
        "case_id": f"{suite.name}-{user_task.ID}",
        "category": f"{suite.name}_benign",
        "prompt": user_task.PROMPT,
        "expected_outcome": "allowed",
        "expected_state": {"/utility": True},
        "server_args": ["--suite", suite.name, "--user-task", user_task.ID],
        "tags": ["agentdojo", suite.name],
    }


def attack(suite, user_task, injection_task):
    return {
        **benign(suite, user_task),
        "case_id": f"{suite.name}-{user_task.ID}-{injection_task.ID}",
        "category": suite.name,
        "expected_outcome": "contained",
        "forbidden_state": {"/security": True},
        "server_args": ["--suite", suite.name, "--user-task", user_task.ID, "--injection-task", injection_task.ID],
    }


def cases(name):
    for suite in get_suites(VERSION).values():
        for user_task in suite.user_tasks.values():
            yield benign(suite, user_task)
            for injection_task in suite.injection_tasks.values():
                planted = load_attack(name, suite, Pipeline(user_task)).attack(user_task, injection_task)
                case = attack(suite, user_task, injection_task)
                texts = sorted(set(planted.values()))
                if len(texts) != 1:
                    raise SystemExit(f"`{name}` plants {len(texts)} texts in {case['case_id']}; only attacks with one text are known")
                case["injection"] = texts[0]
                case["server_args"] += ["--injection", "{{injection}}"]
                for vector in planted:
                    case["server_args"] += ["--at", vector]
                yield case


def pairs():
    """Every pair with the environment before it, and the calls of its ground truth where both tasks have one."""
    for suite in get_suites(VERSION).values():
        loaded = suite.load_and_inject_default_environment({})
        for user_task in suite.user_tasks.values():
            before = user_task.init_environment(loaded.model_copy(deep=True))
            for injection_task in suite.injection_tasks.values():
                try:
                    user, injected = user_task.ground_truth(before), injection_task.ground_truth(before)
                    # An attack that is done in words alone has no calls, and is no less scripted for that.
                    why = None if injected or injection_task.GROUND_TRUTH_OUTPUT else "no ground truth"
                except Exception as error:
                    user, injected, why = [], [], type(error).__name__
                yield suite, user_task, injection_task, before, user[:1] + injected + user[1:], why


def verdicts(step):
    at = 0
    for suite, user_task, injection_task, before, calls, why in pairs():
        if why is not None:
            continue
        at += 1
        if (at - 1) % step:
            continue
        said = [user_task.GROUND_TRUTH_OUTPUT, injection_task.GROUND_TRUTH_OUTPUT]
        answer = " ".join(text for text in said if text) or "Done."
        # The package by itself: its own runtime, its own checks, nothing of the server above.
        environment, runtime = before.model_copy(deep=True), FunctionsRuntime(suite.tools)
        for call in calls:
            runtime.run_function(environment, call.function, plain(call.args))
        check = lambda task: bool(suite._check_task_result(task, text_of(answer), before, environment, calls))  # noqa: E731
        case = {**attack(suite, user_task, injection_task), "actions": [call_of(call) for call in calls], "answer": answer}
        yield {"case": case, "utility": check(user_task), "security": check(injection_task)}


def counts():
    found = {}
    for suite, _, injection_task, _, _, why in pairs():
        row = found.setdefault(suite.name, {"pairs": 0, "scripted": 0, "left": {}})
        row["pairs"] += 1
        row["scripted"] += why is None
        if why is not None:
            left = row["left"].setdefault(injection_task.ID, {"pairs": 0, "why": why})
            left["pairs"] += 1
    return found


def main(words):
    if words[:1] == ["serve"]:
        serve(trial_of(words[1:]))
    elif words[:1] == ["cases"]:
        for case in cases(*words[1:2] or ["important_instructions"]):
            print(json.dumps(case))
    elif words[:1] == ["verdicts"]:
        for verdict in verdicts(int(words[1]) if words[1:] else 1):
            print(json.dumps(verdict))
    elif words[:1] == ["counts"]:
        print(json.dumps(counts(), indent=2))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
