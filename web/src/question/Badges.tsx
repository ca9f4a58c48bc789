import { Badge } from '@mantine/core';
import type { Question } from '@/api/types';
import { Icon, type IconName } from '@/ui/Icon';
import classes from './Badges.module.css';
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

/** Shows the type as a sign. Its name is for the pointer; the caller says it to screen readers. */
export function TypeIcon({ type }: { type: Question['type'] }) {
  const text = useText();
  return <span style={{ color: `var(--mantine-color-${types[type].color}-text)`, lineHeight: 0 }} title={text[`type_${type}`]}><Icon name={types[type].icon} size={16} /></span>;
}

/** Shows the risk as a small text with a sign. A low risk needs neither. */
export function RiskText({ risk }: { risk: Question['risk'] }) {
  const text = useText();
  if (risk === 'low') return null;
  return <span className={classes.risk} data-grave={isGrave(risk) || undefined}><Icon name="warning" size={12} /> {text[`risk_${risk}`]}</span>;
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
