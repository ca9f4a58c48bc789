import { Badge, Text, VisuallyHidden } from '@mantine/core';
import type { Question } from '@/api/types';
import { Icon, type IconName } from '@/ui/Icon';
import { decisionOf } from './item';
import { awaitsReader } from './queries';
import { useText } from './text';

const types: Record<Question['type'], { icon: IconName; color: string }> = {
  blocking: { icon: 'pause', color: 'orange' },
  non_blocking: { icon: 'next', color: 'gray' },
  approval: { icon: 'shield', color: 'fermata' },
  error_recovery: { icon: 'warning', color: 'red' },
};

export function TypeBadge({ type }: { type: Question['type'] }) {
  const text = useText();
  return <Badge variant="default" flex="0 1 auto" miw={44} leftSection={<Icon name={types[type].icon} size={12} />} size="sm" tt="none">{text[`type_${type}`]}</Badge>;
}

/** Shows the type as a sign. Its name is for screen readers and for the pointer. */
export function TypeIcon({ type }: { type: Question['type'] }) {
  const text = useText();
  return <Text span c={`var(--mantine-color-${types[type].color}-text)`} title={text[`type_${type}`]} lh={0}><Icon name={types[type].icon} size={16} /><VisuallyHidden>{text[`type_${type}`]}: </VisuallyHidden></Text>;
}

/** Shows the risk as a small text with a sign. A low risk needs neither. */
export function RiskText({ risk }: { risk: Question['risk'] }) {
  const text = useText();
  if (risk === 'low') return null;
  return <Text span size="xs" fw={isGrave(risk) ? 700 : undefined} c={isGrave(risk) ? 'var(--mantine-color-error)' : 'dimmed'} flex="none"><Icon name="warning" size={12} /> {text[`risk_${risk}`]}</Text>;
}

const isGrave = (risk: Question['risk']) => risk === 'high' || risk === 'critical';

/** Shows the risk with a word and a sign. A low risk needs neither. */
export function RiskBadge({ risk }: { risk: Question['risk'] }) {
  const text = useText();
  if (risk === 'low') return null;
  return (
    <Badge variant={isGrave(risk) ? 'filled' : 'default'} color={isGrave(risk) ? 'red.9' : undefined} leftSection={<Icon name="warning" size={12} />} size="sm" tt="none" flex="none">
      {text[`risk_${risk}`]}
    </Badge>
  );
}

/** Shows how a question ended, or that it waits for others. A question that waits for the reader has none. */
export function StatusBadge({ question }: { question: Question }) {
  const text = useText();
  if (question.status === 'pending' && awaitsReader(question)) return null;
  const words = question.status === 'pending' ? text.statusPendingOther : text[decisionOf(question) ?? `status_${question.status}`];
  return <Badge variant="default" size="sm" tt="none">{words}</Badge>;
}
