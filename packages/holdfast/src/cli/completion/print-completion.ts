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

async function listModels({ environment, home }: CliContext) {
  const { openModels } = await import('../../open/open-models.ts')
  const { models } = orThrow(await openModels({ environment, home, onNotice: () => undefined }))
  return models.list().finally(() => models.close())
}
