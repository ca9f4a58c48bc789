import { Badge } from '@mantine/core';
import looks from '@/task/task.module.css';
import { Icon, type IconName } from '@/ui/Icon';
import { useText } from './text';
import type { Step } from './types';

type ShownState = Step['state'] | 'needs' | 'child' | 'none';

const badgeLooks: Record<ShownState, { icon: IconName; look: string }> = {
  running: { icon: 'play', look: 'working' },
  waiting: { icon: 'clock', look: 'calm' },
  child: { icon: 'tasks', look: 'calm' },
  needs: { icon: 'person', look: 'needs' },
  done: { icon: 'check', look: 'good' },
  skipped: { icon: 'next', look: 'calm' },
  failed: { icon: 'warning', look: 'bad' },
  rejected: { icon: 'cross', look: 'bad' },
  cancelled: { icon: 'cross', look: 'calm' },
  none: { icon: 'more', look: 'calm' },
};

/** Returns the state of a step as people say it. It distinguishes a wait for a person from a wait for a task. */
export function shownStateOf(step: Pick<Step, 'state' | 'question_id' | 'child_id'> | undefined): ShownState {
  if (!step) return 'none';
  if (step.state !== 'waiting') return step.state;
  if (step.question_id) return 'needs';
  return step.child_id ? 'child' : 'waiting';
}

/** Shows the state of a step as a word, with an icon and a colour. */
export function StepBadge({ step }: { step: Parameters<typeof shownStateOf>[0] }) {
  const text = useText();
  const shown = shownStateOf(step);
  const { icon, look } = badgeLooks[shown];
  return (
    <Badge variant="default" radius="sm" tt="none" fw={600} className={`${looks.state ?? ''} ${looks[look] ?? ''}`} leftSection={<Icon name={icon} size={13} />} data-step-state={shown}>
      {text.stepStates[shown]}
    </Badge>
  );
}
