import { expect, it } from 'vitest';
import type { NotificationPreferences } from '@/api/types';
import { channelsOf, checkPreferences, preferencesOf, valuesOf } from './preference';

const words = { needed: 'needed', zoneWrong: 'wrong', sameTimes: 'same' };
const stored: NotificationPreferences = {
  zone: 'Europe/Berlin', digest: 'daily', quiet: { from: '22:00', to: '07:00', days: ['mon'], urgent: false },
  channels: { email: { non_blocking: false, progress: true }, gone: { blocking: false } },
};

it('says nothing of what is as it is by itself', () => {
  const values = valuesOf(stored, ['push', 'email']);
  expect(values.wanted).toEqual({ push: ['blocking', 'approval', 'error_recovery', 'non_blocking'], email: ['blocking', 'approval', 'error_recovery', 'progress'] });
  expect(preferencesOf(stored, values)).toEqual(stored);
  expect(preferencesOf(stored, { ...values, wanted: { push: ['blocking'], email: values.wanted.push ?? [] }, quietOn: false, language: 'de' })).toEqual({
    zone: 'Europe/Berlin', language: 'de', digest: 'daily', channels: { push: { approval: false, error_recovery: false, non_blocking: false }, gone: { blocking: false } },
  });
});

it('keeps what was chosen about deadlines within quiet hours', () => {
  const values = valuesOf(stored, []);
  expect(values.deadlines).toBe('urgent');
  expect(preferencesOf(stored, { ...values, deadlines: 'none' }).quiet?.deadlines).toBe('none');
  const chosen: NotificationPreferences = { ...stored, quiet: { from: '22:00', to: '07:00', urgent: true, deadlines: 'all' } };
  expect(valuesOf(chosen, []).deadlines).toBe('all');
  expect(preferencesOf(chosen, { ...valuesOf(chosen, []), deadlines: 'urgent' }).quiet?.deadlines).toBe('urgent');
});

it('finds what is wrong', () => {
  const values = valuesOf({ zone: '', digest: 'off' }, []);
  expect(checkPreferences(values, words)).toEqual({});
  expect(checkPreferences({ ...values, zone: 'Mars/Base' }, words)).toEqual({ zone: 'wrong' });
  expect(checkPreferences({ ...values, quietOn: true, from: '', to: '' }, words)).toEqual({ 'quiet.from': 'needed', 'quiet.to': 'needed' });
  expect(checkPreferences({ ...values, quietOn: true, from: '08:00', to: '08:00' }, words)).toEqual({ 'quiet.to': 'same' });
});

it('offers the channels of the routes', () => {
  const routes = { blocking: [{ after: '0s', channel: 'slack' }], approval: [{ after: '0s', channel: 'push' }], error_recovery: [], non_blocking: [], progress: [] };
  expect(channelsOf(routes, stored)).toEqual(['push', 'slack', 'email', 'gone']);
});
