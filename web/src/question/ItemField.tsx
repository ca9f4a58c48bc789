import { Badge, Checkbox, Group, Radio, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { type RefObject } from 'react';
import type { Item, Option } from '@/api/types';
import { Visible } from '@/text/Visible';
import hiddenClasses from '@/ui/Hidden.module.css';
import { Icon } from '@/ui/Icon';
import { KeyCap } from '@/ui/KeyCap';
import { Markdown } from '@/ui/Markdown';
import classes from './ItemField.module.css';
import { isRequired, labelOf, optionsOf, type Value } from './item';
import { useText } from './text';

interface Props {
  item: Item;
  value: Value | undefined;
  /** The answer in the reader's own words, beside the options. */
  other: string | undefined;
  error?: string;
  label: string;
  field: RefObject<HTMLInputElement | HTMLTextAreaElement | null>;
  onChange: (value: Value | undefined) => void;
  onOther: (text: string | undefined) => void;
}

/** Shows the field for one item, in the form in which it is answered. Items that one press answers have none. */
export function ItemField(props: Props) {
  switch (props.item.response_type) {
    case 'choice':
    case 'multi_choice':
      return <Choice {...props} />;
    case 'boolean':
    case 'approval':
      return null; // The bar has the buttons.
    default:
      return <WrittenAnswer {...props} />;
  }
}

function Choice({ item, value, other, error, label, field, onChange, onOther }: Props) {
  const text = useText();
  const many = item.response_type === 'multi_choice';
  const options = optionsOf(item);
  const picked = Array.isArray(value) ? value : [];
  const cards = (
    <Stack gap={6}>
      {options.map((option, at) => <OptionCard key={option.value} option={option} many={many} number={at + 1} />)}
      {item.other && (
        <>
          <Card many={many} value={otherValue} checked={other !== undefined}>
            <Text fw={500}>{text.other}</Text>
          </Card>
          {other !== undefined && <Textarea ref={field as RefObject<HTMLTextAreaElement>} aria-label={text.otherLabel} placeholder={text.otherLabel} autosize maxRows={12} value={other} onChange={(event) => onOther(event.currentTarget.value)} />}
        </>
      )}
    </Stack>
  );
  if (many) {
    return (
      <Checkbox.Group
        label={label} labelProps={{ className: hiddenClasses.hidden }} error={error}
        value={other === undefined ? picked : [...picked, otherValue]}
        onChange={(next) => {
          onChange(next.filter((each) => each !== otherValue));
          if (next.includes(otherValue) !== (other !== undefined)) onOther(next.includes(otherValue) ? '' : undefined);
        }}
      >
        {cards}
      </Checkbox.Group>
    );
  }
  return (
    <Radio.Group
      label={label} labelProps={{ className: hiddenClasses.hidden }} error={error}
      value={other !== undefined ? otherValue : typeof value === 'string' ? value : ''}
      onChange={(next) => {
        onOther(next === otherValue ? '' : undefined);
        onChange(next === otherValue ? undefined : next);
      }}
    >
      {cards}
    </Radio.Group>
  );
}

const otherValue = '\u0000other';

function OptionCard({ option, many, number }: { option: Option; many: boolean; number: number }) {
  const text = useText();
  return (
    <Card many={many} value={option.value} number={number} danger={option.danger}>
      <Group gap="xs">
        <Text fw={500} className={classes.text}><Visible text={labelOf(option)} /></Text>
        {option.recommended && <Badge size="sm" color="green" variant="light" tt="none" leftSection={<Icon name="star" size={12} />}>{text.recommended}</Badge>}
        {option.danger && <Badge size="sm" color="red.9" tt="none" leftSection={<Icon name="warning" size={12} />}>{text.danger}</Badge>}
      </Group>
      {option.description && <Text size="sm" c="dimmed" className={classes.text}><Visible text={option.description} /></Text>}
    </Card>
  );
}

function Card({ many, value, number, danger, children }: { many: boolean; value: string; number?: number; danger?: boolean; checked?: boolean; children: React.ReactNode }) {
  const Kind = many ? Checkbox : Radio;
  return (
    <Kind.Card value={value} className={classes.card} data-danger={danger || undefined} p="sm">
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Kind.Indicator mt={3} />
        <div className={classes.grow}>{children}</div>
        {number !== undefined && number <= 9 && <KeyCap>{number}</KeyCap>}
      </Group>
    </Kind.Card>
  );
}

function WrittenAnswer({ item, value, error, label, field, onChange }: Props) {
  const text = useText();
  const shown = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  const rest = { label: isRequired(item) ? label : `${label} (${text.optional})`, labelProps: { className: hiddenClasses.hidden }, error, value: shown };
  if (item.response_type === 'number') {
    return <TextInput ref={field as RefObject<HTMLInputElement>} {...rest} inputMode="decimal" description={limits(item.min, item.max)} onChange={(event) => onChange(event.currentTarget.value)} />;
  }
  if (item.response_type === 'date') {
    return <TextInput ref={field as RefObject<HTMLInputElement>} {...rest} type="date" onChange={(event) => onChange(event.currentTarget.value)} />;
  }
  return (
    <Textarea
      ref={field as RefObject<HTMLTextAreaElement>} {...rest} autosize minRows={2} maxRows={16} description={item.pattern ? text.pattern(item.pattern) : limits(item.min_length, item.max_length)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

const limits = (least?: number, most?: number) => (least === undefined && most === undefined ? undefined : `${least ?? ''} – ${most ?? ''}`);

/** Shows the prompt of an item as the asker wrote it. */
export function Prompt({ item }: { item: Item }) {
  return (
    <div>
      {item.header && <Text size="sm" c="dimmed" fw={600}><Visible text={item.header} /></Text>}
      <div className={classes.prompt}><Markdown text={item.prompt} /></div>
    </div>
  );
}
