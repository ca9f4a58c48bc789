import { useQuery } from '@tanstack/react-query';
import { useLanguage } from '@/text/language';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { Loading } from '@/ui/Loading';
import { AnswerTimes, Outcomes } from './Charts';
import { FigureTable } from './FigureTable';
import type { Step } from './figures';
import type { ReportFilters } from './period';
import { Report } from './Report';
import { csvOf, seriesQuery } from './reports';
import { useText } from './text';

/** Shows the figures of the period step by step. */
export function OverTime({ filters }: { filters: ReportFilters }) {
  const text = useText();
  const language = useLanguage();
  const { data, error } = useQuery(seriesQuery(filters));
  if (error && !data) return <ErrorAlert error={error} />;
  if (!data) return <Loading />;
  const format = new Intl.DateTimeFormat(language, data.interval === 'hour' ? { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short' });
  const label = (step: Step) => format.format(new Date(step.from));
  const about = { hour: text.hours, day: text.days, week: text.weeks }[data.interval];
  const rows = data.items.map((step) => ({ key: step.from, label: label(step), figures: step }));
  const table = (title: string) => <FigureTable title={title} first={text.step} rows={rows.filter(({ figures }) => figures.asked > 0)} />;
  return (
    <>
      <Report title={text.overTime} about={about} csv={csvOf('series', filters)} chart={<Outcomes rows={rows} />} table={table(text.overTime)} />
      <Report title={text.timesOverTime} about={about} csv={csvOf('series', filters)} chart={<AnswerTimes steps={data.items} label={label} />} table={table(text.timesOverTime)} />
    </>
  );
}
