import numpy as np
import pytest
from onnx import StringStringEntryProto, TensorProto, checker, helper, load_from_string, numpy_helper

from textgauge.encode.onnx_graph import OnnxGraph


def small() -> tuple[OnnxGraph, str]:
    graph = OnnxGraph({"table": np.arange(8, dtype=np.float32).reshape(4, 2)})
    rows = graph.op("Gather", graph.weight("table"), "ids", axis=0)
    scaled = graph.op("Mul", rows, graph.tensor(np.array(0.5, dtype=np.float32)))
    turned = graph.op("Transpose", scaled, perm=[0, 2, 1])
    return graph, graph.op("ReduceSum", turned, graph.constant(-1), keepdims=0)


def test_the_file_is_what_the_onnx_package_writes():
    graph, output = small()
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["Gather_0"], axis=0),
        helper.make_node("Mul", ["Gather_0", "constant_0"], ["Mul_1"]),
        helper.make_node("Transpose", ["Mul_1"], ["Transpose_2"], perm=[0, 2, 1]),
        helper.make_node("ReduceSum", ["Transpose_2", "constant_1"], [output], keepdims=0),
    ]
    table = TensorProto(
        name="table",
        data_type=TensorProto.FLOAT,
        dims=(4, 2),
        data_location=TensorProto.EXTERNAL,
        external_data=[StringStringEntryProto(key="location", value="given at load")],
    )
    constants = [
        numpy_helper.from_array(np.array(0.5, dtype=np.float32), "constant_0"),
        numpy_helper.from_array(np.array([-1], dtype=np.int64), "constant_1"),
    ]
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", 3])]
    out = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["texts", 2])
    theirs = helper.make_graph(nodes, "textgauge", inputs, [out], [table, *constants])
    model = helper.make_model(theirs, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    written = load_from_string(graph.written({"ids": ("texts", 3)}, output, ("texts", 2)))
    assert written == model


def test_it_runs():
    graph, output = small()
    run = graph.network({"ids": ("texts", 3)}, output, ("texts", 2))
    assert run({"ids": np.array([[0, 1, 3]])}).tolist() == [[4.0, 5.5]]


@pytest.mark.parametrize("size", [2, 300])
def test_a_network_has_weights_of_its_own(size):
    """Those given may be freed once it is open, which halves the memory of a model."""
    weights = np.random.default_rng(0).normal(size=(2, size, size)).astype(np.float32)
    graph = OnnxGraph({"table": weights[0], "map": weights[1]})
    output = graph.op("MatMul", graph.op("Gather", graph.weight("table"), "ids", axis=0), graph.weight("map"))
    run = graph.network({"ids": ("texts",)}, output, ("texts", size))
    before = run({"ids": np.array([0, 1])})
    weights[:] = 0.0
    assert before.any()
    assert (run({"ids": np.array([0, 1])}) == before).all()


def test_attributes_of_all_kinds_are_valid():
    graph = OnnxGraph({})
    scale = graph.tensor(np.ones(2, dtype=np.float32))
    rows = graph.op("Cast", "ids", to=1)
    output = graph.op("LayerNormalization", rows, scale, scale, axis=-1, epsilon=1e-12)
    model = load_from_string(graph.written({"ids": ("texts", 2)}, output, ("texts", 2)))
    checker.check_model(model, full_check=True)
    axis, epsilon = model.graph.node[1].attribute
    assert (axis.i, epsilon.f) == (-1, np.float32(1e-12))
