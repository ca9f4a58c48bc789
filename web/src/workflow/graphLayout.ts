import { groupBy } from '@/ui/groupBy';
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
  /** The track of its line beside the nodes, counted from the inside. */
  track: number;
}

/** The step that runs when no one answers in time. It is drawn inside the step that asks. */
export interface Timeout {
  node: Node;
  jumps: Jump[];
}

export interface GraphRow {
  node: Node;
  /** The phase that begins with the node: a list of steps that run after the main steps have ended. */
  begins?: Phase;
  /** The labels of the edge to the next node, or undefined if there is no such edge. "" is the plain edge. */
  next?: string[];
  timeouts: Timeout[];
  jumps: Jump[];
}

export interface GraphLayout {
  rows: GraphRow[];
  /** The number of tracks on each side. */
  left: number;
  right: number;
}

export function layOutGraph(graph: Graph): GraphLayout {
  const main = graph.nodes.filter((node) => node.kind !== 'timeout');
  const at = new Map(main.map((node, index) => [node.id, index]));
  const hosts = hostsOf(graph);
  const indexOf = (id: string) => at.get(hosts.get(id) ?? id) ?? 0;
  const rows = main.map((node, i): GraphRow => ({ node, begins: node.phase === main[i - 1]?.phase ? undefined : node.phase, timeouts: [], jumps: [] }));
  for (const node of graph.nodes) {
    if (node.kind === 'timeout') rows[indexOf(node.id)]?.timeouts.push({ node, jumps: [] });
  }
  const jumps: Jump[] = [];
  for (const edge of graph.edges) {
    const from = indexOf(edge.from);
    const row = rows[from];
    const timeout = row?.timeouts.find((each) => each.node.id === edge.from);
    if (!row || row.timeouts.some((each) => each.node.id === edge.to)) continue;
    if (!timeout && at.get(edge.to) === from + 1) {
      row.next = [...(row.next ?? []), edge.label ?? ''];
      continue;
    }
    const jump = { from: edge.from, to: edge.to, label: edge.label ?? '', back: edge.back ?? (at.get(edge.to) ?? 0) <= from, track: 0 };
    (timeout ?? row).jumps.push(jump);
    jumps.push(jump);
  }
  const reach = (jump: Jump) => ({ jump, from: indexOf(jump.from), to: at.get(jump.to) ?? 0 });
  return { rows, left: assignTracks(jumps.filter((jump) => jump.back).map(reach)), right: assignTracks(jumps.filter((jump) => !jump.back).map(reach)) };
}

/** Returns the step to which each timeout node belongs. */
function hostsOf(graph: Graph): Map<string, string> {
  const kinds = new Map(graph.nodes.map((node) => [node.id, node.kind]));
  return new Map(graph.edges.filter((edge) => kinds.get(edge.to) === 'timeout').map((edge) => [edge.to, edge.from]));
}

/** Gives each line a track in which it touches no other line. The short lines are inside. */
function assignTracks(spans: { jump: Jump; from: number; to: number }[]): number {
  const lines = [...groupBy(spans, (span) => span.to).values()].map((all) => {
    const rows = all.flatMap(({ from, to }) => [from, to]);
    return { all, low: Math.min(...rows), high: Math.max(...rows) };
  });
  lines.sort((a, b) => a.high - a.low - (b.high - b.low) || a.low - b.low);
  const tracks: { low: number; high: number }[][] = [];
  for (const line of lines) {
    let track = tracks.findIndex((taken) => taken.every((other) => other.high < line.low || other.low > line.high));
    if (track < 0) track = tracks.push([]) - 1;
    tracks[track]?.push(line);
    for (const { jump } of line.all) jump.track = track;
  }
  return tracks.length;
}
