import type { ListedModel, ModelList } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { ArgsOf, RunCommand } from '../../args/command-spec.ts'
import { rejectAction } from '../../args/find-action.ts'
import { refreshServer } from '../../connect/connect.ts'
import { resolvePath } from '../../connect/workspace.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

type Flags = ArgsOf<typeof programSpecs.models>['flags']

/** Needs no store. */
export const run: RunCommand<typeof programSpecs.models> = async ({ positionals: [action, file], flags }, context) => {
  if (action === undefined) return list(flags, context)
  if (action !== 'refresh') return rejectAction('models', action, ['refresh'])
  if (context.server) return rejectUsage('models refresh changes the files of this machine: leave --url out.')
  if (file === undefined) return rejectUsage('models refresh needs a file: holdfast models refresh <file>.')
  return flags.all ? rejectUsage('--all works with the list of models only.') : refresh(file, flags, context)
}

async function list({ all, json }: Flags, context: CliContext): Promise<undefined> {
  if (context.server) {
    const { connectGiven } = await import('../../connect/connect-given.ts')
    const listed = orThrow(await connectGiven(context.server).handles.models())
    const shown = all ? listed : usableOf(listed)
    if (json) await context.out.writeJson(shown)
    else await printModels(shown, null, context)
    return
  }
  const { openModels } = await import('../../../open/open-models.ts') // loads every provider, which --help does not need
  const { environment, home, out, err } = context
  const notices: string[] = []
  const onNotice = (line: string) => notices.push(line)
  const { models, asOf } = orThrow(await openModels({ environment, home, onNotice }))
  const listed = await models.list().finally(() => models.close())
  for (const line of notices) await err.tell(escapeLine(line))
  const shown = all ? listed : usableOf(listed)
  if (json) await out.writeJson({ ...shown, asOf })
  else await printModels(shown, asOf, context)
}

const usableOf = ({ models, providers }: ModelList): ModelList => ({
  models: models.filter(({ unusable }) => unusable === null),
  providers: providers.filter(({ unusable }) => unusable === null),
})

async function printModels(
  { models, providers }: ModelList,
  asOf: string | null,
  { out, err }: CliContext,
): Promise<void> {
  const table = (rows: readonly ListedModel[]) =>
    textTable(['MODEL', 'CONTEXT', 'ANSWER', 'IN', 'OUT', 'CACHED', 'THINKING'], rows.map(cells), out)
  await out.write(table(models.filter(({ unusable }) => unusable === null)))
  for (const { provider, unusable } of providers.filter((one) => one.unusable !== null)) {
    await out.tell(`\n${escapeLine(unusable ?? '')}`)
    const rest = models.filter(({ model }) => model.startsWith(`${provider}/`))
    if (rest.length > 0) await out.write(table(rest))
  }
  await err.tell(
    `* marks the default. Prices are dollars per million tokens${asOf === null ? '' : ` as of ${asOf}`}. Models that are not listed can be used by name.`,
  )
}

function cells(row: ListedModel): readonly string[] {
  const { price, thinkingLevels } = row
  return [
    `${escapeLine(row.model)}${row.isDefault ? ' *' : ''}`,
    formatCount(row.contextTokens),
    formatCount(row.outputTokens),
    ...[price?.input, price?.output, price?.cacheRead].map((one) => (one === undefined ? unknown : `$${one}`)),
    thinkingLevels === null ? unknown : thinkingLevels.join(' '),
  ]
}

const unknown = 'unknown'
const formatCount = (tokens: number | null): string => (tokens === null ? unknown : tokens.toLocaleString('en'))

async function refresh(file: string, { json }: Flags, context: CliContext): Promise<undefined> {
  const path = orThrow(resolvePath(context, file))
  const { takeCatalogue } = await import('../../../open/open-models.ts')
  const { home, pid, out, err } = context
  const { models, asOf } = orThrow(await takeCatalogue(path, { home, pid, nowMs: context.now() }))
  const count = Object.keys(models).length
  const server = await refreshServer(context)
  if (json) await out.writeJson({ models: count, asOf })
  else await out.write(`Loaded ${count} models as of ${asOf}.\n`)
  if (server !== null && !json) await err.tell(server)
}
