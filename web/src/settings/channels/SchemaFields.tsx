import { Checkbox, MultiSelect, PasswordInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import type { Errors } from '../parts/useForm';
import { sentence, type Field, type Property } from './schema';
import { useText } from './text';

interface Props {
  properties: readonly Property[];
  fields: Record<string, Field>;
  set: (name: string, field: Field) => void;
  errors: Errors;
  /** The secrets that are stored. They are not shown, and they stay unless the reader types something. */
  stored?: readonly string[];
  dropped?: readonly string[];
  drop?: (name: string, dropped: boolean) => void;
}

/** Shows the fields for settings that a JSON Schema describes. */
export function SchemaFields({ properties, fields, set, errors, stored = [], dropped = [], drop }: Props) {
  const text = useText();
  return (
    <>
      {properties.map((property) => {
        const isStored = stored.includes(property.name);
        return (
          <div key={property.name}>
            <OneField property={property} field={fields[property.name] ?? ''} set={(field) => set(property.name, field)} error={errors[property.name] ?? errors[`settings.${property.name}`]} stored={isStored} />
            {isStored && !property.required && drop && (
              <Checkbox mt={6} size="sm" label={text.dropSecret(property.title)} checked={dropped.includes(property.name)} onChange={(event) => drop(property.name, event.currentTarget.checked)} />
            )}
          </div>
        );
      })}
    </>
  );
}

interface FieldProps {
  property: Property;
  field: Field;
  set: (field: Field) => void;
  error?: string;
  stored: boolean;
}

function OneField({ property, field, set, error, stored }: FieldProps) {
  const text = useText();
  const { form, title, required, example, choices } = property;
  const about = [property.about && sentence(property.about), property.secret && (stored ? text.secretIsSet : text.secretFrom), form === 'json' && text.jsonAbout].filter(Boolean).join(' ');
  const written = typeof field === 'string' ? field : '';
  const listed = Array.isArray(field) ? field : [];
  const common = { label: title, description: about || undefined, error, required: required && !stored, withAsterisk: required && !stored };
  const typed = { ...common, value: written, placeholder: example ?? (property.byDefault === undefined ? undefined : valueText(property.byDefault)) };
  if (property.fixed) return written === '' ? null : <TextInput {...typed} readOnly />;
  switch (form) {
    case 'switch':
      return <Switch label={title} description={about || undefined} error={error} checked={field === true} onChange={(event) => set(event.currentTarget.checked)} />;
    case 'one':
      return <Select {...common} value={written} allowDeselect={false} data={[...(required ? [] : [{ value: '', label: text.choose }]), ...(choices ?? [])]} onChange={(value) => set(value ?? '')} />;
    case 'many':
      return choices
        ? <MultiSelect {...common} value={listed} data={choices} clearable onChange={set} />
        : <TagsInput {...common} value={listed} placeholder={listed.length === 0 ? example : undefined} splitChars={[',', ' ', '\n']} acceptValueOnBlur onChange={set} />;
    case 'secret':
      return <PasswordInput {...typed} autoComplete="new-password" onChange={(event) => set(event.currentTarget.value)} />;
    case 'text':
    case 'json':
      return <Textarea {...typed} autosize minRows={2} maxRows={10} onChange={(event) => set(event.currentTarget.value)} />;
    case 'number':
    case 'whole':
      return <TextInput {...typed} inputMode={form === 'whole' ? 'numeric' : 'decimal'} onChange={(event) => set(event.currentTarget.value)} />;
    default:
      return <TextInput {...typed} onChange={(event) => set(event.currentTarget.value)} />;
  }
}

const valueText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
