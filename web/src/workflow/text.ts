import { catalogue } from '@/text/language';
import { runText } from './runText';
import { toolText } from './toolText';
import { workflowText } from './workflowText';

/** The texts of workflows, their runs and their tools. */
export const useText = catalogue({
  en: { ...workflowText.en, ...runText.en, ...toolText.en },
  de: { ...workflowText.de, ...runText.de, ...toolText.de },
});

export type WorkflowText = ReturnType<typeof useText>;
