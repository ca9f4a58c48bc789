import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';

// Live events make these queries stale, except for projects. The table in api/live.ts has the first words of their
// keys.

export const membersQuery = queryOptions({ queryKey: ['members'], queryFn: () => unwrap(api.GET('/v1/members')) });
export const groupsQuery = queryOptions({ queryKey: ['members', 'groups'], queryFn: () => unwrap(api.GET('/v1/groups')) });
export const invitationsQuery = queryOptions({ queryKey: ['members', 'invitations'], queryFn: () => unwrap(api.GET('/v1/invitations')) });
export const sessionsQuery = queryOptions({ queryKey: ['members', 'sessions'], queryFn: () => unwrap(api.GET('/v1/sessions')) });
export const sessionsOf = (id: string) => queryOptions({ queryKey: ['members', id, 'sessions'], queryFn: () => unwrap(api.GET('/v1/members/{id}/sessions', { params: { path: { id } } })) });
export const passkeysOf = (id: string) => queryOptions({ queryKey: ['members', id, 'passkeys'], queryFn: () => unwrap(api.GET('/v1/members/{id}/passkeys', { params: { path: { id } } })) });
export const tokensQuery = queryOptions({ queryKey: ['tokens'], queryFn: () => unwrap(api.GET('/v1/tokens')) });
export const policyQuery = queryOptions({ queryKey: ['policies'], queryFn: () => unwrap(api.GET('/v1/policies')) });
export const rulesQuery = queryOptions({ queryKey: ['gates'], queryFn: () => unwrap(api.GET('/v1/gate-rules')) });
export const projectsQuery = queryOptions({ queryKey: ['projects'], queryFn: () => unwrap(api.GET('/v1/projects')) });
export const passkeysQuery = queryOptions({ queryKey: ['members', 'passkeys'], queryFn: () => unwrap(api.GET('/v1/passkeys')) });
export const channelsQuery = queryOptions({ queryKey: ['channels'], queryFn: () => unwrap(api.GET('/v1/channels')) });
export const channelKindsQuery = queryOptions({ queryKey: ['channels', 'kinds'], queryFn: () => unwrap(api.GET('/v1/channel-kinds')), staleTime: Infinity });
export const routesQuery = queryOptions({ queryKey: ['channels', 'routes'], queryFn: () => unwrap(api.GET('/v1/routes')) });
export const identitiesQuery = queryOptions({ queryKey: ['members', 'identities'], queryFn: () => unwrap(api.GET('/v1/identities')) });
export const devicesQuery = queryOptions({ queryKey: ['members', 'devices'], queryFn: () => unwrap(api.GET('/v1/me/devices')) });
export const preferencesQuery = queryOptions({ queryKey: ['members', 'preferences'], queryFn: () => unwrap(api.GET('/v1/me/notifications')) });
