import { Stack, Text } from '@mantine/core';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link, Outlet } from '@tanstack/react-router';
import { Shell } from '@/shell/Shell';
import { useText } from '@/shell/text';
import { Page } from '@/ui/Page';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';

/** The query parameters of an address. All values are texts. */
type Search = Record<string, string | undefined>;
const validateSearch = (search: Record<string, unknown>): Search =>
  Object.fromEntries(Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== ''));

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });
const inShell = () => shell;

// Each page is a chunk of its own, which loads when it is first opened.
const routes = root.addChildren([
  createRoute({ getParentRoute: () => root, path: '/sign-in', validateSearch, component: lazyRouteComponent(() => import('@/sign-in/SignInPage')) }),
  shell.addChildren([
    createRoute({ getParentRoute: inShell, path: '/', validateSearch, component: lazyRouteComponent(() => import('@/inbox/InboxPage')) }),
    createRoute({ getParentRoute: inShell, path: '/questions/$id', validateSearch, component: lazyRouteComponent(() => import('@/question/QuestionPage')) }),
    createRoute({ getParentRoute: inShell, path: '/q/$id', validateSearch, component: lazyRouteComponent(() => import('@/question/QuestionPage')) }),
    createRoute({ getParentRoute: inShell, path: '/approvals', validateSearch, component: lazyRouteComponent(() => import('@/approval/ApprovalPage')) }),
    createRoute({ getParentRoute: inShell, path: '/tasks', validateSearch, component: lazyRouteComponent(() => import('@/task/TasksPage')) }),
    createRoute({ getParentRoute: inShell, path: '/tasks/new', validateSearch, component: lazyRouteComponent(() => import('@/task/NewTaskPage')) }),
    createRoute({ getParentRoute: inShell, path: '/tasks/$id', validateSearch, component: lazyRouteComponent(() => import('@/task/TaskPage')) }),
    createRoute({ getParentRoute: inShell, path: '/workflows', validateSearch, component: lazyRouteComponent(() => import('@/workflow/WorkflowsPage')) }),
    createRoute({ getParentRoute: inShell, path: '/workflows/$name', validateSearch, component: lazyRouteComponent(() => import('@/workflow/WorkflowPage')) }),
    createRoute({ getParentRoute: inShell, path: '/workflow-runs', validateSearch, component: lazyRouteComponent(() => import('@/workflow/RunsPage')) }),
    createRoute({ getParentRoute: inShell, path: '/workflow-runs/$id', validateSearch, component: lazyRouteComponent(() => import('@/workflow/RunPage')) }),
    createRoute({ getParentRoute: inShell, path: '/workflow-tools', validateSearch, component: lazyRouteComponent(() => import('@/workflow/ToolsPage')) }),
    createRoute({ getParentRoute: inShell, path: '/notifications', validateSearch, component: lazyRouteComponent(() => import('@/notification/NotificationsPage')) }),
    createRoute({ getParentRoute: inShell, path: '/analytics', validateSearch, component: lazyRouteComponent(() => import('@/analytics/AnalyticsPage')) }),
    createRoute({ getParentRoute: inShell, path: '/audit', validateSearch, component: lazyRouteComponent(() => import('@/audit/AuditPage')) }),
    createRoute({ getParentRoute: inShell, path: '/settings', validateSearch, component: lazyRouteComponent(() => import('@/settings/SettingsPage')) }),
    createRoute({ getParentRoute: inShell, path: '/settings/$section', validateSearch, component: lazyRouteComponent(() => import('@/settings/SettingsPage')) }),
  ]),
]);

export const router = createRouter({
  routeTree: routes,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error, reset }) => <ErrorAlert error={error} onRetry={reset} />,
  // People read addresses, so there is no JSON in them.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '');
    return given.length > 0 ? `?${new URLSearchParams(given).toString()}` : '';
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function NotFound() {
  const text = useText();
  return (
    <Page title="404">
      <Stack align="flex-start">
        <Text>{text.notFound}</Text>
        <Link to="/">{text.toInbox}</Link>
      </Stack>
    </Page>
  );
}
