import { groupBy } from './group';
import type { Graph } from './types';

// The graph is drawn in the order of the file: one node below the other. An
// arrow leads to the next node. Every other edge is a line beside the nodes:
// forwards on the right, back on the left. Lines to the same node are drawn as
// one.

type Node = Graph['nodes'][number];

export type Phase = NonNullable<Node['phase']>;

/** An edge that does not lead to the next node. */
export interface Jump {
  from: string;
  to: string;
  label: string;
  back: boolean;
  /** The lane of its line beside the nodes, counted from the inside. */
  lane: number;
}

/** The step that runs when no one answers in time. It is drawn within its step. */
export interface Timeout {
  node: Node;
  jumps: Jump[];
}

export interface Place {
  node: Node;
  /** The phase that begins with the node: a list of steps that run after the main steps have ended. */
  begins?: Phase;
  /** The labels of the edge to the next node, or undefined if there is no such edge. "" is the plain edge. */
  next?: string[];
  timeouts: Timeout[];
  jumps: Jump[];
}

export interface Arranged {
  places: Place[];
  /** The number of lanes on each side. */
  left: number;
  right: number;
}

export function arrange(graph: Graph): Arranged {
  const main = graph.nodes.filter((node) => node.kind !== 'timeout');
  const at = new Map(main.map((node, place) => [node.id, place]));
  const hosts = hostsOf(graph);
  const rowOf = (id: string) => at.get(hosts.get(id) ?? id) ?? 0;
  const places = main.map((node, i): Place => ({ node, begins: node.phase === main[i - 1]?.phase ? undefined : node.phase, timeouts: [], jumps: [] }));
  for (const node of graph.nodes) {
    if (node.kind === 'timeout') places[rowOf(node.id)]?.timeouts.push({ node, jumps: [] });
  }
  const jumps: Jump[] = [];
  for (const edge of graph.edges) {
    const row = rowOf(edge.from);
    const place = places[row];
    const timeout = place?.timeouts.find((each) => each.node.id === edge.from);
    if (!place || place.timeouts.some((each) => each.node.id === edge.to)) continue;
    if (!timeout && at.get(edge.to) === row + 1) {
      place.next = [...(place.next ?? []), edge.label ?? ''];
      continue;
    }
    const jump = { from: edge.from, to: edge.to, label: edge.label ?? '', back: edge.back ?? (at.get(edge.to) ?? 0) <= row, lane: 0 };
    (timeout ?? place).jumps.push(jump);
    jumps.push(jump);
  }
  const reach = (jump: Jump) => ({ jump, from: rowOf(jump.from), to: at.get(jump.to) ?? 0 });
  return { places, left: setLanes(jumps.filter((jump) => jump.back).map(reach)), right: setLanes(jumps.filter((jump) => !jump.back).map(reach)) };
}

/** Returns the step to which each timeout node belongs. */
function hostsOf(graph: Graph): Map<string, string> {
  const kinds = new Map(graph.nodes.map((node) => [node.id, node.kind]));
  return new Map(graph.edges.filter((edge) => kinds.get(edge.to) === 'timeout').map((edge) => [edge.to, edge.from]));
}

/** Gives each line a lane in which it touches no other line. The short lines are inside. */
function setLanes(ways: { jump: Jump; from: number; to: number }[]): number {
  const lines = [...groupBy(ways, (way) => way.to).values()].map((all) => {
    const rows = all.flatMap(({ from, to }) => [from, to]);
    return { all, low: Math.min(...rows), high: Math.max(...rows) };
  });
  lines.sort((a, b) => a.high - a.low - (b.high - b.low) || a.low - b.low);
  const lanes: { low: number; high: number }[][] = [];
  for (const line of lines) {
    let lane = lanes.findIndex((taken) => taken.every((other) => other.high < line.low || other.low > line.high));
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane]?.push(line);
    for (const { jump } of line.all) jump.lane = lane;
  }
  return lanes.length;
}
