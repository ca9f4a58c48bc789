import { Anchor, Code, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCommands } from '@/keys/useCommands';
import { useLanguage } from '@/text/language';
import { Page } from '@/ui/Page';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { Outcomes } from './Charts';
import { AnswerTable, FigureTable } from './FigureTable';
import type { Summary } from './figures';
import { Filters } from './Filters';
import { OverTime } from './OverTime';
import { isType, ranges, type ReportFilters } from './period';
import { Report } from './Report';
import { csvOf, projectsReport, questionsReport, respondersReport, summaryQuery } from './reports';
import { useText } from './text';
import { Tiles } from './Tiles';

/** Shows the analytics: how people deal with questions. */
export default function AnalyticsPage() {
  const text = useText();
  const navigate = useNavigate();
  const { range, from, to, project, type } = useSearch({ strict: false });
  const filters: ReportFilters = { range, from, to, project, type };
  const { data, error, refetch } = useQuery(summaryQuery(filters));
  const setFilters = (change: ReportFilters) => void navigate({ to: '/analytics', search: { ...filters, ...change }, replace: true });
  useCommands(ranges.map((each, at) => ({ id: `range-${each}`, title: text[each], group: text.title, keys: [String(at + 1)], run: () => setFilters({ range: each, from: undefined, to: undefined }) })));
  return (
    <Page title={text.title} wide>
      <Stack>
        <Text size="sm" c="dimmed">{text.about}</Text>
        <Filters filters={filters} onChange={setFilters} />
        {error && !data ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : !data && <Loading />}
        {data?.asked === 0 && <Empty />}
        {data && data.asked > 0 && <Reports summary={data} filters={filters} />}
      </Stack>
    </Page>
  );
}

function Empty() {
  const text = useText();
  return (
    <Paper withBorder p="lg">
      <Text fw={600}>{text.empty}</Text>
      <Text>{text.emptyAbout}</Text>
      <Code block mt="xs" tabIndex={0}>fermata ask "Ship it?" --type boolean</Code>
    </Paper>
  );
}

function Reports({ summary, filters }: { summary: Summary; filters: ReportFilters }) {
  const text = useText();
  const types = summary.types.map((each) => ({ key: each.type, label: isType(each.type) ? text[each.type] : each.type, figures: each }));
  const channels = summary.channels.map((each) => ({ key: each.channel, label: each.channel || text.noChannel, figures: each }));
  return (
    <>
      <Tiles summary={summary} />
      <OverTime filters={filters} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Report title={text.byType} csv={csvOf('summary', filters)} chart={<Outcomes sideways rows={types} />} table={<FigureTable title={text.byType} first={text.kind} rows={types} />} />
        <ByProject filters={filters} />
      </SimpleGrid>
      <CommonQuestions filters={filters} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <ByResponder filters={filters} />
        <Report title={text.byChannel} csv={csvOf('summary', filters)} table={<AnswerTable title={text.byChannel} first={text.channel} rows={channels} />} />
      </SimpleGrid>
    </>
  );
}

const maxBars = 8;

function ByProject({ filters }: { filters: ReportFilters }) {
  const text = useText();
  const { data, error } = useQuery(projectsReport(filters));
  if (error && !data) return <ErrorAlert error={error} />;
  const rows = data?.items.map((each) => ({ key: each.project, label: each.project, figures: each })) ?? [];
  return <Report title={text.byProject} csv={csvOf('projects', filters)} chart={<Outcomes sideways rows={rows.slice(0, maxBars)} />} table={<FigureTable title={text.byProject} first={text.project} rows={rows} />} />;
}

function CommonQuestions({ filters }: { filters: ReportFilters }) {
  const text = useText();
  const language = useLanguage();
  const { data, error } = useQuery(questionsReport(filters));
  if (error && !data) return <ErrorAlert error={error} />;
  const rows = data?.items.map((each) => ({ key: each.question_id, label: <Anchor size="sm" renderRoot={(props) => <Link to="/questions/$id" params={{ id: each.question_id }} {...props} />}>{each.title}</Anchor>, figures: each })) ?? [];
  return (
    <Report
      title={text.common} about={data && text.commonAbout(data.closed.toLocaleString(language))} csv={csvOf('questions', filters)}
      table={<FigureTable title={text.common} first={text.question} rows={rows} />}
    />
  );
}

function ByResponder({ filters }: { filters: ReportFilters }) {
  const text = useText();
  const { data, error } = useQuery(respondersReport(filters));
  if (error && !data) return <ErrorAlert error={error} />;
  const rows = data?.items.map((each) => ({ key: each.id, label: each.handle ?? text.gone, figures: each })) ?? [];
  return <Report title={text.byResponder} about={text.byResponderAbout} csv={csvOf('responders', filters)} table={<AnswerTable title={text.byResponder} first={text.person} rows={rows} />} />;
}
