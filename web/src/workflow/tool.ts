import { jsonOf, objectOf } from './inputs';
import type { NamedTool, ToolDefinition, ToolInfo } from './types';

export type ToolKind = 'agent' | 'command' | 'server' | 'json';

/** A tool as the content of the form. */
export interface ToolForm {
  name: string;
  description: string;
  kind: ToolKind;
  prompt: string;
  runner: string;
  agent: string;
  size: string;
  command: string;
  way: 'url' | 'command';
  url: string;
  headers: string;
  env: string;
  schema: string;
  timeout: string;
  isolated: boolean;
  json: string;
}

const lines = (text: string) => text.split('\n').map((line) => line.trimEnd()).filter((line) => line !== '');
const pairsText = (pairs: Record<string, string> | undefined) => Object.entries(pairs ?? {}).map(([name, value]) => `${name}=${value}`).join('\n');

/** Reads names and values, one pair on each line. Returns undefined if a line is not a pair. */
export function pairsOf(text: string): Record<string, string> | undefined {
  const pairs = lines(text).map((line) => /^([^=\s]+)\s*=\s*(.*)$/.exec(line));
  if (pairs.some((pair) => !pair)) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']));
}

/** Returns the form of an existing tool, or of a new one. */
export function formOf(tool?: NamedTool): ToolForm {
  const command = tool?.command ?? tool?.server?.command ?? [];
  return {
    name: tool?.name ?? '', description: tool?.description ?? '', kind: tool?.server ? 'server' : tool?.command?.length ? 'command' : 'agent',
    prompt: tool?.agent?.prompt ?? '', runner: tool?.agent?.runner ?? '', agent: tool?.agent?.agent ?? '', size: tool?.agent?.size ?? '',
    command: command.join('\n'), way: tool?.server?.command?.length ? 'command' : 'url', url: tool?.server?.url ?? '',
    headers: pairsText(tool?.server?.headers), env: pairsText(tool?.server?.env),
    schema: tool?.schema === undefined || tool.schema === null ? '' : JSON.stringify(tool.schema, null, 2), timeout: tool?.timeout ?? '', isolated: tool?.isolated ?? false,
    json: '',
  };
}

const optionalField = <K extends string>(key: K, value: string): Partial<Record<K, string>> => (value.trim() === '' ? {} : ({ [key]: value.trim() } as Record<K, string>));

/** Returns the tool as the server takes it. */
export function definitionOf(form: ToolForm): ToolDefinition {
  if (form.kind === 'json') return (objectOf(form.json) ?? {});
  const common = { ...optionalField('description', form.description), ...optionalField('timeout', form.timeout), ...(form.schema.trim() ? { schema: jsonOf(form.schema) } : {}), ...(form.isolated ? { isolated: true } : {}) };
  if (form.kind === 'agent') {
    const size = (['small', 'medium', 'large'] as const).find((each) => each === form.size);
    return { ...common, agent: { prompt: form.prompt, ...optionalField('runner', form.runner), ...optionalField('agent', form.agent), ...(size ? { size } : {}) } };
  }
  if (form.kind === 'command') return { ...common, command: lines(form.command) };
  const server = form.way === 'url' ? { url: form.url.trim(), ...(form.headers.trim() ? { headers: pairsOf(form.headers) } : {}) } : { command: lines(form.command), ...(form.env.trim() ? { env: pairsOf(form.env) } : {}) };
  return { ...optionalField('description', form.description), server };
}

export type ToolFault = 'name' | 'needed' | 'json' | 'object' | 'pairs';

/** Returns what is wrong with the form, by field. */
export function faultsOf(form: ToolForm): Partial<Record<keyof ToolForm, ToolFault>> {
  const wrong: Partial<Record<keyof ToolForm, ToolFault>> = {};
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(form.name)) wrong.name = form.name === '' ? 'needed' : 'name';
  if (form.kind === 'json') return objectOf(form.json) ? wrong : { ...wrong, json: 'object' };
  if (form.kind === 'agent' && form.prompt.trim() === '') wrong.prompt = 'needed';
  const program = form.kind === 'command' || (form.kind === 'server' && form.way === 'command');
  if (program && lines(form.command).length === 0) wrong.command = 'needed';
  if (form.kind !== 'server') {
    if (form.schema.trim() && jsonOf(form.schema) === undefined) wrong.schema = 'json';
    return wrong;
  }
  if (form.way === 'url' && form.url.trim() === '') wrong.url = 'needed';
  if (form.way === 'url' && !pairsOf(form.headers)) wrong.headers = 'pairs';
  if (form.way === 'command' && !pairsOf(form.env)) wrong.env = 'pairs';
  return wrong;
}

/** A group of the list: the built-in tools, the tools of one MCP server, … */
export interface ToolGroup {
  kind: ToolInfo['kind'];
  /** The name of the MCP server. */
  server?: string;
  error?: string;
  tools: ToolInfo[];
}

/** Groups the tools for the list: the workspace's own tools first, and each server by itself. */
export function groupsOf(tools: readonly ToolInfo[], named: readonly NamedTool[]): ToolGroup[] {
  const of = (kind: ToolInfo['kind']) => tools.filter((tool) => tool.kind === kind);
  const servers = named.filter((tool) => tool.server).map(({ name }): ToolGroup => {
    const own = of('server');
    return { kind: 'server', server: name, error: own.find((tool) => tool.name === name)?.error, tools: own.filter((tool) => tool.name.startsWith(`${name}.`)) };
  });
  const single = (['agent', 'command'] as const).map((kind): ToolGroup => ({ kind, tools: of(kind) })).filter((group) => group.tools.length > 0);
  return [...single, ...servers, { kind: 'built_in', tools: of('built_in') }];
}
