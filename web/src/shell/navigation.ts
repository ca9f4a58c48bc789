import { useText } from './text';

/** The pages in the navigation, each with the second key of `g …`. */
export const navigationPages = [
  { to: '/', name: 'inbox', key: 'i', icon: 'inbox' },
  { to: '/approvals', name: 'approvals', key: 'a', icon: 'check' },
  { to: '/tasks', name: 'tasks', key: 't', icon: 'tasks' },
  { to: '/workflows', name: 'workflows', key: 'w', icon: 'flow' },
  { to: '/notifications', name: 'notifications', key: 'n', icon: 'bell' },
  { to: '/analytics', name: 'analytics', key: 'y', icon: 'chart' },
  { to: '/audit', name: 'audit', key: 'u', icon: 'chain' },
  { to: '/settings', name: 'settings', key: 's', icon: 'settings' },
] as const;

export function useNavigationPages() {
  const text = useText();
  return navigationPages.map((page) => ({ ...page, title: text[page.name] }));
}
