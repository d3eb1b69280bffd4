"""LangGraph: a graph of a model and its tools, streaming."""

import sys

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


@tool
def find(name: str) -> str:
    """Find a person's seat."""
    return f"{name} sits in 2A"


model = ChatOpenAI(model="gpt-5.4-mini", streaming=True).bind_tools([find])
graph = StateGraph(MessagesState)
graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
graph.add_node("tools", ToolNode([find]))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", tools_condition)
graph.add_edge("tools", "model")
print(graph.compile().invoke({"messages": [("user", sys.stdin.read())]})["messages"][-1].content)
