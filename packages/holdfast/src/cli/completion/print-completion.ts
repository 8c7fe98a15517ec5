import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import { readStoredList } from '../sessions/read-list.ts'
import type { CliContext } from '../terminal/cli-context.ts'
import { complete, type NextWord, type ShellCompletion, type Vocabulary } from './next-words.ts'

/** How many sessions are offered, newest first. */
const sessionsMax = 100

/** Prints the candidates for the last of the words, for the scripts of the shells. Prints nothing if a look-up fails. */
export async function printCompletion(
  typed: readonly string[],
  vocabulary: Vocabulary,
  context: CliContext,
): Promise<undefined> {
  // The value of --flag=value is completed as that of --flag value.
  const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(typed.at(-1) ?? '') ?? []
  const words = flag === undefined || value === undefined ? typed : [...typed.slice(0, -1), flag, value]
  const completion = complete(words, vocabulary)
  if (completion.type === 'files') return void (await context.out.write(':files\n'))
  const beginning = words.at(-1) ?? ''
  const found = await lookUp(completion, context).catch(() => []) // a key press must not print an error
  const start = flag === undefined ? '' : `${flag}=`
  const fitting = found
    .filter(({ word }) => word.startsWith(beginning))
    .map(({ word, about }) => ({ word: `${start}${word}`, about }))
  await context.out.write(fitting.map(({ word, about }) => `${escapeLine(word)}\t${escapeLine(about)}\n`).join(''))
}

async function lookUp(completion: ShellCompletion, context: CliContext): Promise<readonly NextWord[]> {
  switch (completion.type) {
    case 'words':
      return [...completion.words, ...(completion.orSession ? await anySession(context) : [])]
    case 'sessions':
      return anySession(context)
    case 'trashed':
      return sessions(context, true)
    case 'models':
      return (await listModels(context)).models.map(({ model, title }) => ({ word: model, about: title ?? '' }))
    case 'providers':
      return (await listModels(context)).providers.map(({ provider, title }) => ({ word: provider, about: title }))
    case 'branches':
      return branches(completion.session, context)
    case 'settings':
      return (await settings()).map(({ key, about }) => ({ word: key, about }))
    case 'values':
      return valuesOf(completion.setting, context)
    case 'tools':
      return tools(context)
    case 'rules':
      return rules(context)
    default:
      return []
  }
}

const anySession = async (context: CliContext): Promise<readonly NextWord[]> => [
  { word: '@latest', about: 'the latest of this folder' },
  ...(await sessions(context, undefined).catch(() => [])),
]

async function sessions(context: CliContext, trashed: true | undefined): Promise<readonly NextWord[]> {
  const { sessions: found } = await readStoredList(context, { limit: sessionsMax, trashed })
  return found.map(({ handle, title }) => ({ word: handle, about: title }))
}

async function branches(name: string, context: CliContext): Promise<readonly NextWord[]> {
  const { withStoredSession } = await import('../sessions/stored-session.ts')
  const found: NextWord[] = []
  await withStoredSession(context, name, {}, async (session) => {
    const listed = orThrow(await session.branches())
    found.push(...listed.map(({ name: word, turns }) => ({ word, about: `${turns} turns` })))
    return undefined
  })
  return found
}

/** Returns the settings of the configuration with their schema. */
async function settings() {
  const { Config } = await import('../../system/config/config.ts')
  return Object.entries(Config.shape)
    .filter(([key]) => key !== '$schema')
    .map(([key, schema]) => ({ key, schema, about: schema.description ?? '' }))
}

/** Returns the values of a setting that has few, or the models if it is one. */
async function valuesOf(setting: string, context: CliContext): Promise<readonly NextWord[]> {
  if (/^(model|\w+Model)$/.test(setting))
    return (await listModels(context)).models.map(({ model, title }) => ({ word: model, about: title ?? '' }))
  const found = (await settings()).find(({ key }) => key === setting)
  const schema: unknown = found?.schema.unwrap()
  const options = schema instanceof Object && 'options' in schema ? schema.options : undefined
  const kind = schema instanceof Object && 'type' in schema ? schema.type : undefined
  const values = kind === 'boolean' ? ['true', 'false'] : kind === 'enum' && Array.isArray(options) ? options : []
  return values.map((word) => ({ word: String(word), about: '' }))
}

async function tools({ environment, home, cwd }: CliContext): Promise<readonly NextWord[]> {
  const { listTools } = await import('../../open/list-tools.ts')
  const { tools: listed } = orThrow(await listTools({ environment, home, workdir: cwd() }))
  return [
    { word: '*', about: 'every tool' },
    ...listed.map(({ name, about }) => ({ word: name, about: firstSentence(about) })),
  ]
}

const firstSentence = (text: string): string => /^[^.\n]*/.exec(text)?.[0] ?? ''

async function rules({ home }: CliContext): Promise<readonly NextWord[]> {
  const { openPermissionRules } = await import('../../open/permission-rules.ts')
  const found = orThrow(await openPermissionRules(home).list({}))
  return found.map(({ id, verdict, tool, pattern }) => ({
    word: id,
    about: `${verdict} ${tool} ${pattern ?? ''}`.trim(),
  }))
}

async function listModels({ environment, home }: CliContext) {
  const { openModels } = await import('../../open/open-models.ts')
  const { models } = orThrow(await openModels({ environment, home, onNotice: () => undefined }))
  return models.list().finally(() => models.close())
}
