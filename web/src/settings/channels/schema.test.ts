import { expect, it } from 'vitest';
import { changeOf, faultOf, fieldOf, propertiesOf, sentence, valueOf } from './schema';

const schema = {
  type: 'object',
  required: ['url'],
  properties: {
    events: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
    url: { type: 'string', format: 'uri', title: 'Address', maxLength: 20 },
    secret: { type: 'string', maxLength: 5000 },
    port: { type: 'integer', minimum: 1, maximum: 10 },
    allow_private: { type: 'boolean' },
    level: { type: 'string', enum: ['low', 'high'] },
    more: { type: 'object' },
    body: { type: ['string', 'null'], maxLength: 5000 },
    tags: { type: 'array', items: { type: 'string' }, examples: [['x', 'y']] },
  },
};
const properties = propertiesOf(schema, ['secret']);
const named = (name: string) => {
  const found = properties.find((each) => each.name === name);
  if (!found) throw new Error(name);
  return found;
};
const words = {
  needed: 'needed', tooLong: (n: number) => `too long ${n}`, notNumber: 'no number', notWhole: 'not whole', atLeast: (n: number) => `at least ${n}`, atMost: (n: number) => `at most ${n}`, notJson: 'no JSON',
};

it('knows the form of each setting, the needed ones first', () => {
  expect(properties.map(({ name, form }) => [name, form])).toEqual([
    ['url', 'line'], ['events', 'many'], ['secret', 'secret'], ['port', 'whole'], ['allow_private', 'switch'], ['level', 'one'], ['more', 'json'], ['body', 'text'], ['tags', 'many'],
  ]);
  expect(named('url').title).toBe('Address');
  expect(named('allow_private').title).toBe('allow private');
  expect(named('tags').example).toBe('x, y');
  expect(propertiesOf(undefined, [])).toEqual([]);
});

it('knows what only the server says', () => {
  expect(propertiesOf({ properties: { key: { type: 'string', readOnly: true }, url: { type: 'string' } } }, []).map(({ fixed }) => fixed)).toEqual([true, false]);
});

it.each([
  ['where events are posted to', 'Where events are posted to.'], ['whsec_ and base64', 'whsec_ and base64.'], ['xapp-… with a scope', 'xapp-… with a scope.'],
  ['owner/repo: where it goes.', 'owner/repo: where it goes.'], ['env:NAME', 'env:NAME.'], ['The rest', 'The rest.'],
])('%s is %s', (words, want) => expect(sentence(words)).toBe(want));

it.each([
  ['url', '', 'needed'], ['url', 'x'.repeat(21), 'too long 20'], ['port', 'x', 'no number'], ['port', '1.5', 'not whole'], ['port', '0', 'at least 1'],
  ['port', '11', 'at most 10'], ['port', '10', undefined], ['more', '{', 'no JSON'], ['more', '{}', undefined], ['level', '', undefined], ['tags', [], undefined],
])('of %s finds wrong in %j: %s', (name, field, fault) => expect(faultOf(named(name), field, words)).toBe(fault));

it('reads and writes every form', () => {
  const stored = { url: 'https://x', events: ['a'], port: 3, allow_private: true, level: 'low', more: { a: [1] }, body: 'two\nlines' };
  for (const property of properties) {
    expect(valueOf(property, fieldOf(property, (stored as Record<string, unknown>)[property.name]))).toEqual(
      property.name === 'secret' || property.name === 'tags' ? undefined : (stored as Record<string, unknown>)[property.name],
    );
  }
});

it('sends what changed; a secret only when it was typed or dropped', () => {
  const stored = { url: 'https://x', port: 3, tags: ['x'] };
  const fields = Object.fromEntries(properties.map((property) => [property.name, fieldOf(property, (stored as Record<string, unknown>)[property.name])]));
  expect(changeOf(properties, stored, fields)).toEqual({});
  expect(changeOf(properties, stored, { ...fields, port: '', tags: ['x', 'y'], allow_private: true, secret: 's' })).toEqual({ port: null, tags: ['x', 'y'], allow_private: true, secret: 's' });
  expect(changeOf(properties, stored, fields, ['secret'])).toEqual({ secret: null });
});
