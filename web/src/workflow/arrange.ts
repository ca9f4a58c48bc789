import type { Graph } from './api';
import { groupBy } from './group';

// A graph is drawn as the file is read: one node below the other. What leads to
// the next one is an arrow between the two; every other way is a line beside
// them, forwards on the right, back on the left. Lines to one node are one.

type Node = Graph['nodes'][number];

export type Phase = NonNullable<Node['phase']>;

/** A way that does not lead to the next node. */
export interface Jump {
  from: string;
  to: string;
  label: string;
  back: boolean;
  /** Which line beside the nodes it is, from the inside. */
  lane: number;
}

/** What is done when nobody answers stands within its step. */
export interface Timeout {
  node: Node;
  jumps: Jump[];
}

export interface Place {
  node: Node;
  /** The list of steps that begins with the node: what is done when the steps have ended. */
  begins?: Phase;
  /** Why the next node comes next; undefined: it does not. "" is the plain way on. */
  next?: string[];
  timeouts: Timeout[];
  jumps: Jump[];
}

export interface Arranged {
  places: Place[];
  /** How many lines there are on each side. */
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

/** The step that each node of a timeout belongs to. */
function hostsOf(graph: Graph): Map<string, string> {
  const kinds = new Map(graph.nodes.map((node) => [node.id, node.kind]));
  return new Map(graph.edges.filter((edge) => kinds.get(edge.to) === 'timeout').map((edge) => [edge.to, edge.from]));
}

/** Gives each line a lane of its own where it would touch another; the short ones are inside. */
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
