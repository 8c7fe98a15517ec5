import { resolve } from 'node:path'
import type { ListedModel, ModelList } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { refreshServer } from '../../sessions/refresh-server.ts'
import { currentDirectory } from '../../sessions/workspace.ts'
import { type Ended, ended, misused, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'
import { textTable } from '../../terminal/text-table.ts'

type Args = ArgsOf<'models'>

/** What can be called now, and why the rest cannot; or a newer list of what is known of models. Needs no store. */
export async function models({ words, flags }: Args, place: CliContext): Promise<Ended> {
  const [way, file] = words
  if (way === undefined) return list(flags, place)
  if (way !== 'refresh') return misused(`models does not know '${way}'.${didYouMean(way, ['refresh'])}`)
  if (file === undefined) return misused('models refresh needs a file: models refresh FILE.')
  return flags.all ? misused('--all goes with the list of models.') : refresh(file, flags, place)
}

async function list({ all, json }: Args['flags'], place: CliContext): Promise<Ended> {
  const { openModels } = await import('../../../open-models.ts') // brings every provider, which --help does not need
  const { environment, home, out, err } = place
  const notices: string[] = []
  const opened = await openModels({ environment, home, onNotice: (line) => notices.push(line) })
  if (!opened.ok) return refused(opened.fault)
  const { models, asOf } = opened.value
  const listed = await models.list().finally(() => models.close())
  for (const line of notices) await err.write(`${escapeLine(line)}\n`)
  const shown = all ? listed : usableOf(listed)
  if (json) await out.write(`${toJsonText({ ...shown, asOf })}\n`)
  else await tell(shown, asOf, place)
  return ended()
}

const usableOf = ({ models, providers }: ModelList): ModelList => ({
  models: models.filter(({ unusable }) => unusable === null),
  providers: providers.filter(({ unusable }) => unusable === null),
})

async function tell({ models, providers }: ModelList, asOf: string, { out, err }: CliContext): Promise<void> {
  const table = (rows: readonly ListedModel[]) =>
    textTable(['MODEL', 'CONTEXT', 'ANSWER', 'IN', 'OUT', 'CACHED', 'THINKING'], rows.map(cells), out.paint)
  await out.write(table(models.filter(({ unusable }) => unusable === null)))
  for (const { provider, unusable } of providers.filter((one) => one.unusable !== null)) {
    await out.write(`\n${escapeLine(unusable ?? '')}\n`)
    const rest = models.filter(({ model }) => model.startsWith(`${provider}/`))
    if (rest.length > 0) await out.write(table(rest))
  }
  await err.write(
    `* is the default. Dollars for a million tokens, as of ${asOf}; any other model can be used by its name.\n`,
  )
}

function cells({
  model,
  isDefault,
  contextTokens,
  outputTokens,
  price,
  thinkingLevels,
}: ListedModel): readonly string[] {
  const prices = price === null ? unknownPrices : [price.input, price.output, price.cacheRead].map((one) => `$${one}`)
  return [
    `${escapeLine(model)}${isDefault ? ' *' : ''}`,
    counted(contextTokens),
    counted(outputTokens),
    ...prices,
    thinkingLevels === null ? unknown : thinkingLevels.join(' '),
  ]
}

const unknown = 'unknown'
const unknownPrices = [unknown, unknown, unknown]
const counted = (tokens: number | null): string => (tokens === null ? unknown : tokens.toLocaleString('en'))

async function refresh(file: string, { json }: Args['flags'], place: CliContext): Promise<Ended> {
  const here = currentDirectory(place)
  if (!here.ok) return refused(here.fault)
  const { takeCatalogue } = await import('../../../open-models.ts')
  const { home, pid } = place
  const taken = await takeCatalogue(resolve(here.value, file), { home, pid, nowMs: place.now() })
  if (!taken.ok) return refused(taken.fault)
  const { models: facts, asOf } = taken.value
  const count = Object.keys(facts).length
  const server = await refreshServer(place)
  if (json) await place.out.write(`${toJsonText({ models: count, asOf })}\n`)
  else await place.out.write(`${count} models are known as of ${asOf}.\n`)
  if (server !== null && !json) await place.err.write(`${server}\n`)
  return ended()
}
