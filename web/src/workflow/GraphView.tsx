import { Group, Text } from '@mantine/core';
import { useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Visible } from '@/text/Visible';
import { useNow } from '@/ui/useNow';
import { Icon, type IconName } from '@/ui/Icon';
import { layOutGraph, type Jump, type GraphRow, type Timeout } from './graphLayout';
import { Facts } from './Facts';
import classes from './Graph.module.css';
import { Name } from './Name';
import { stepDurationText, useItemsWords } from './durations';
import { anchorOf, type Progress } from './progress';
import { shownStateOf, StepBadge } from './StepBadge';
import { useText } from './text';
import type { Graph, Step } from './types';
import { edgeWords } from './words';

const innerGap = 10;
const trackWidth = 11;
const maxTracks = 6;
const gutterWidth = (tracks: number) => (tracks > 0 ? innerGap + Math.min(tracks, maxTracks) * trackWidth : 0);

interface Props {
  graph: Graph;
  label: string;
  /** The progress of the steps of a run. */
  progress?: Map<string, Progress>;
  /** Whether the run has ended. */
  ended?: boolean;
  /** Opens the details of a step. */
  onStep?: (step: Step) => void;
}

/** Shows the steps one below the other, and where each of them leads. It is a list, with the lines drawn beside it. */
export function GraphView({ graph, label, progress, ended, onStep }: Props) {
  const layout = useMemo(() => layOutGraph(graph), [graph]);
  const list = useRef<HTMLOListElement>(null);
  const lines = useLines(list, layout.rows);
  const go = (id: string) => {
    const target = [...(list.current?.querySelectorAll<HTMLElement>('[data-node]') ?? [])].find((each) => each.dataset.node === id);
    target?.scrollIntoView({ block: 'nearest' });
    target?.focus({ preventScroll: true });
  };
  return (
    <ol className={classes.graph} ref={list} aria-label={label} style={{ paddingInlineStart: gutterWidth(layout.left), paddingInlineEnd: gutterWidth(layout.right) }}>
      {layout.rows.map((row) => (
        <NodeItem key={row.node.id} row={row} progress={progress?.get(row.node.id)} run={progress !== undefined} ended={ended} go={go} onStep={onStep} />
      ))}
      <li aria-hidden className={classes.lines}>
        <svg width="100%" height="100%" focusable="false">
          {lines.map((line) => (
            <g key={line.path} className={line.back ? classes.back : undefined}>
              <path d={line.path} className={classes.line} />
              <path d={line.head} className={classes.head} />
            </g>
          ))}
        </svg>
      </li>
    </ol>
  );
}

interface NodeProps {
  row: GraphRow;
  progress?: Progress;
  run: boolean;
  ended?: boolean;
  go: (id: string) => void;
  onStep?: (step: Step) => void;
}

function NodeItem({ row: { node, begins, next, timeouts, jumps }, progress, run, ended, go, onStep }: NodeProps) {
  const text = useText();
  const edge = node.kind === 'start' || node.kind === 'end';
  const reasons = next?.map((each) => edgeWords(each, text)).filter(Boolean).join(', ');
  return (
    <li className={classes.item}>
      {begins && <Text size="sm" fw={600} className={classes.phase} data-phase={begins}>{text.phases[begins]}</Text>}
      <div className={`${classes.node ?? ''} ${edge ? (classes.edge ?? '') : ''}`} data-node={node.id} data-stand={run ? (edge ? (node.kind === 'start' || ended ? 'done' : 'none') : shownStateOf(progress?.step)) : undefined} tabIndex={-1}>
        {edge ? <Text size="sm" fw={600}>{text.nodeKinds[node.kind === 'start' ? 'start' : 'end']}</Text> : <NodeFace node={node} progress={progress} run={run} onStep={onStep} />}
        {jumps.map((jump) => <JumpRow key={`${jump.label}→${jump.to}`} jump={jump} go={go} />)}
        {timeouts.map((timeout) => <TimeoutBox key={timeout.node.id} timeout={timeout} go={go} />)}
      </div>
      {!next && node.kind !== 'end' && <div className={classes.apart} />}
      {next && (
        <div className={classes.gap}>
          <svg aria-hidden width={12} height={30} viewBox="0 0 12 30" focusable="false"><path d="M6 0v22" className={classes.line} /><path d="M2 21h8l-4 8z" className={classes.head} /></svg>
          {reasons && <Text size="xs" c="dimmed">{reasons}</Text>}
        </div>
      )}
    </li>
  );
}

const icons: Record<string, IconName> = { question: 'person', child: 'robot', step: 'flow' };

function NodeFace({ node, progress, run, onStep }: { node: Graph['nodes'][number]; progress?: Progress; run: boolean; onStep?: (step: Step) => void }) {
  const text = useText();
  const name = <Text span fw={600} className={classes.name}><Name text={node.id} /></Text>;
  return (
    <>
      <div className={classes.face}>
        {run && <span className={classes.state}><StepBadge step={progress?.step} /></span>}
        <span className={classes.icon}><Icon name={icons[node.kind] ?? 'flow'} size={16} /></span>
        {progress && onStep ? <a className={classes.open} href={`#${anchorOf(progress.step)}`} onClick={(event) => { event.preventDefault(); onStep(progress.step); }}>{name}</a> : name}
        <Text size="xs" c="dimmed" className={classes.words}><Name text={node.tool ?? ''} /></Text>
      </div>
      <div className={classes.below}>
        {node.condition && node.condition !== 'true' && <Text size="xs" c="dimmed" className={classes.words}>{text.condition} <code><Visible text={node.condition} /></code></Text>}
        {progress && <StepFacts progress={progress} />}
      </div>
    </>
  );
}

/** Shows how long a step took, which attempt it is, and how often the run reached it. */
function StepFacts({ progress: { step, times, items } }: { progress: Progress }) {
  const text = useText();
  const now = useNow();
  const itemsWords = useItemsWords();
  const facts = [stepDurationText(step, now), times > 1 && text.times(times), step.attempt > 1 && text.attempt(step.attempt), items.all > 0 && itemsWords(items)];
  return facts.some(Boolean) ? <Text size="xs" c="dimmed"><Facts all={facts} /></Text> : null;
}

function TimeoutBox({ timeout: { node, jumps }, go }: { timeout: Timeout; go: (id: string) => void }) {
  const text = useText();
  return (
    <div className={classes.timeout}>
      <Row icon="clock"><Text size="xs"><b>{text.whenTimeout}</b> <code>{node.tool}</code></Text></Row>
      {jumps.map((jump) => <JumpRow key={`${jump.label}→${jump.to}`} jump={jump} go={go} />)}
    </div>
  );
}

const Row = ({ icon, children }: { icon: IconName; children: ReactNode }) => <Group gap={6} wrap="nowrap" align="center"><Icon name={icon} size={13} />{children}</Group>;

/** Shows an edge that does not lead to the next step. A press goes to its target. */
function JumpRow({ jump, go }: { jump: Jump; go: (id: string) => void }) {
  const text = useText();
  const to = jump.to === 'end' ? text.nodeKinds.end : jump.to;
  const label = edgeWords(jump.label, text);
  return (
    <button type="button" className={classes.jump} data-jump={`${jump.from}→${jump.to}`} data-to={jump.to} data-track={jump.track} data-back={jump.back || undefined} onClick={() => go(jump.to)}>
      <Icon name={jump.back ? 'undo' : 'next'} size={13} />
      <span><Name text={jump.back ? text.backTo(label, to) : text.leadsTo(label, to)} /></span>
    </button>
  );
}

interface Line {
  path: string;
  head: string;
  back: boolean;
}

/** Returns a line from each jump to its target, from the places of the two on the page. */
function useLines(list: React.RefObject<HTMLOListElement | null>, rows: readonly GraphRow[]): Line[] {
  const [lines, setLines] = useState<Line[]>([]);
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const draw = () => setLines((before) => {
      const now = linesIn(element);
      return JSON.stringify(now) === JSON.stringify(before) ? before : now;
    });
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(element);
    element.querySelectorAll('[data-node]').forEach((node) => watch.observe(node));
    return () => watch.disconnect();
  }, [list, rows]);
  return lines;
}

function linesIn(element: HTMLElement): Line[] {
  const box = element.getBoundingClientRect();
  const nodes = new Map([...element.querySelectorAll<HTMLElement>('[data-node]')].map((node) => [node.dataset.node, node.getBoundingClientRect()]));
  return [...element.querySelectorAll<HTMLElement>('[data-jump]')].flatMap((row) => {
    const to = nodes.get(row.dataset.to);
    const from = nodes.get(row.closest<HTMLElement>('[data-node]')?.dataset.node);
    if (!to || !from) return [];
    const at = (row.querySelector('svg') ?? row).getBoundingClientRect();
    const back = row.dataset.back !== undefined;
    const out = innerGap + Math.min(Number(row.dataset.track), maxTracks - 1) * trackWidth;
    return [lineOf({ y: at.top + at.height / 2 - box.top, toY: to.top + Math.min(18, to.height / 2) - box.top, x: (back ? from.left : from.right) - box.left, toX: (back ? to.left : to.right) - box.left, out, back })];
  });
}

/** Returns the path of a line: out of the node, along its track, and into the other node, with round corners. */
export function lineOf({ y, toY, x, toX, out, back }: { y: number; toY: number; x: number; toX: number; out: number; back: boolean }): Line {
  const side = back ? -1 : 1;
  const down = toY > y ? 1 : -1;
  const lineX = (back ? Math.min(x, toX) : Math.max(x, toX)) + side * out;
  const r = 5;
  const n = (value: number) => Math.round(value * 10) / 10;
  const path = `M${n(x)} ${n(y)}H${n(lineX - side * r)}Q${n(lineX)} ${n(y)} ${n(lineX)} ${n(y + down * r)}V${n(toY - down * r)}Q${n(lineX)} ${n(toY)} ${n(lineX - side * r)} ${n(toY)}H${n(toX + side * 7)}`;
  return { path, head: `M${n(toX + side * 1)} ${n(toY)}l${side * 8} -4v8z`, back };
}
