import { Badge } from '@mantine/core';
import type { Question } from '@/api/types';
import { Icon, type IconName } from '@/ui/Icon';
import { decisionOf } from './item';
import { awaitsReader } from './queries';
import { useText } from './text';

const types: Record<Question['type'], { icon: IconName; color: string }> = {
  blocking: { icon: 'pause', color: 'orange' },
  non_blocking: { icon: 'next', color: 'gray' },
  approval: { icon: 'check', color: 'fermata' },
  error_recovery: { icon: 'warning', color: 'red' },
};

export function TypeBadge({ type }: { type: Question['type'] }) {
  const text = useText();
  return <Badge variant="default" flex="0 1 auto" miw={44} leftSection={<Icon name={types[type].icon} size={12} />} size="sm" tt="none">{text[`type_${type}`]}</Badge>;
}

/** Shows the risk with a word and a sign. A low risk needs neither. */
export function RiskBadge({ risk }: { risk: Question['risk'] }) {
  const text = useText();
  if (risk === 'low') return null;
  const grave = risk === 'high' || risk === 'critical';
  return (
    <Badge variant={grave ? 'filled' : 'default'} color={grave ? 'red.9' : undefined} leftSection={<Icon name="warning" size={12} />} size="sm" tt="none" flex="none">
      {text[`risk_${risk}`]}
    </Badge>
  );
}

export function StatusBadge({ question }: { question: Question }) {
  const text = useText();
  const words = question.status === 'pending' && !awaitsReader(question) ? text.statusPendingOther : text[decisionOf(question) ?? `status_${question.status}`];
  return <Badge variant="default" size="sm" tt="none">{words}</Badge>;
}
