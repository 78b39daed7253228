"""Walks and sets of graphs, against networkx."""

from __future__ import annotations

import networkx as nx
import pytest

from mbplugin.model.mechanism.identity import DisjointSets, adjacency, biconnected_components, breadth_first


@pytest.mark.parametrize("seed", range(8))
def test_a_walk_reaches_every_node_by_a_shortest_path(seed: int) -> None:
    graph = nx.gnm_random_graph(12, 13, seed=seed)
    edges = [(a, b, f"{a}-{b}") for a, b in graph.edges]
    seen: set[int] = set()
    depth = {0: 0}
    for inner, outer, edge in breadth_first(adjacency(graph, edges), 0, seen):
        assert edge in (f"{inner}-{outer}", f"{outer}-{inner}")
        assert outer not in depth
        depth[outer] = depth[inner] + 1
    assert depth == nx.single_source_shortest_path_length(graph, 0)
    assert seen == set(depth)


def test_a_walk_leaves_out_what_was_seen() -> None:
    neighbours = adjacency("abc", [("a", "b", 1), ("b", "c", 2)])
    assert list(breadth_first(neighbours, "a", {"b"})) == []


@pytest.mark.parametrize("seed", range(8))
def test_sets_are_the_components(seed: int) -> None:
    graph = nx.gnm_random_graph(12, 9, seed=seed)
    sets: DisjointSets[int] = DisjointSets()
    joined = sum(sets.join(a, b) for a, b in graph.edges)
    assert joined == 12 - nx.number_connected_components(graph)
    for part in nx.connected_components(graph):
        assert len({sets.find(node) for node in part}) == 1
    assert len({sets.find(node) for node in graph}) == nx.number_connected_components(graph)


@pytest.mark.parametrize("edges", [6, 12, 16, 24, 60])
@pytest.mark.parametrize("seed", range(12))
def test_biconnected_components_are_those_of_networkx(edges: int, seed: int) -> None:
    graph = nx.gnm_random_graph(16, edges, seed=seed)
    given = [*graph.edges, *list(graph.edges)[:3], (4, 4)]  # parallel edges, and one to itself
    components = {frozenset(map(frozenset, part)) for part in biconnected_components(given)}
    assert components == {frozenset(map(frozenset, part)) for part in nx.biconnected_component_edges(graph)}


def test_biconnected_components_of_a_long_chain_and_a_long_ring() -> None:
    chain = [(k, k + 1) for k in range(5000)]
    assert sorted(biconnected_components(chain)) == [[edge] for edge in chain]
    (ring,) = biconnected_components([*chain, (5000, 0)])
    assert len(ring) == 5001
