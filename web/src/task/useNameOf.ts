import { useQuery } from '@tanstack/react-query';
import { whoamiQuery } from '@/api/queries';
import type { Actor } from '@/api/types';
import { usePageText } from './pageText';

/** Returns a function that names an actor for the reader. */
export function useNameOf(): (actor: Actor | undefined) => string {
  const text = usePageText();
  const { data: me } = useQuery(whoamiQuery);
  return (actor) => {
    if (!actor) return text.actors.system;
    if (actor.kind === 'human' && actor.name && actor.name === me?.name) return text.you;
    if (actor.kind === 'policy' || actor.kind === 'timeout' || actor.kind === 'system') return text.actors[actor.kind];
    return actor.name || text.actors[actor.kind];
  };
}
