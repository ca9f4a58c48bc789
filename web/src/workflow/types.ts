import type { components } from '@/api/schema';
import type { Question } from '@/api/types';

type Schemas = components['schemas'];

export type Workflow = Schemas['Workflow'];
export type Trigger = Schemas['WorkflowTrigger'];
export type Input = Schemas['WorkflowInput'];
export type Graph = Schemas['WorkflowGraph'];
export type Step = Schemas['WorkflowStep'];
export type Run = Omit<Schemas['WorkflowRun'], 'pending_question'> & { pending_question?: Question };
export type ListedRun = Schemas['WorkflowRun'];
export type DefinitionProblem = Schemas['DefinitionProblem'];
export type WorkflowCheck = Schemas['WorkflowCheck'];
export type TestReport = Schemas['TestReport'];
export type ToolInfo = Schemas['ToolInfo'];
export type NamedTool = Schemas['NamedTool'];
export type ToolDefinition = Schemas['ToolDefinition'];
