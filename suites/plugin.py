"""A target and a judge of one's own, in one file: JSON lines in, JSON lines out.

Proofhouse starts this program once for the target and once for the judge, and speaks to it for as long as a run lasts.
"""

import json
import sys


def answer(chat):
    """What the target says: it knows a few capitals, and says so when it does not know one."""
    question = chat["messages"][-1]["content"]
    capitals = {"France": "Paris", "Italy": "Rome", "Peru": "Lima"}
    for country, capital in capitals.items():
        if country in question:
            return {"output": f"The capital of {country} is {capital}.", "usage": {"input_tokens": len(question.split())}}
    return {"output": "I do not know.", "outcome": "refused"}


def verdict(subject):
    """What the judge says: right, wrong, or that it cannot judge."""
    if subject["expected"] is None:
        return {"score": None, "reason": "the case expects nothing in particular"}
    if subject["expected"] in subject["output"]:
        return {"score": 1}
    return {"score": 0, "reason": f"{subject['expected']} is not in it"}


for line in sys.stdin:
    asked = json.loads(line)
    said = {"reply": answer(asked["chat"])} if "chat" in asked else {"verdict": verdict(asked["judge"])}
    print(json.dumps({"id": asked["id"], **said}), flush=True)
