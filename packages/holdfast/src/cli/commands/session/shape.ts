import type { Answer, CommandInput } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { ArgsOf } from '../../args/command-specs.ts'
import { wholeNumber } from '../../args/whole-number.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { giveCommand } from '../../sessions/submit-command.ts'
import { type Ended, misused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

const numberMax = 999_999_999

export async function branch({ words, flags }: ArgsOf<'branch'>, place: CliContext): Promise<Ended> {
  const [name = '', text = ''] = words
  const turn = turnOf(text)
  if (turn === null) return misused(notTurn('<turn>', text))
  const said = (kept: string) => `The line so far is kept as ${kept}; the session stands at the end of turn ${turn}.`
  return shape(name, { type: 'branchAt', turn }, { result: 'branch', said, isJson: flags.json }, place)
}

export async function rewind({ words, flags }: ArgsOf<'rewind'>, place: CliContext): Promise<Ended> {
  const [name = '', text = ''] = words
  const turn = turnOf(text)
  if (turn === null) return misused(notTurn('<turn>', text))
  const said = (kept: string) => `The session stands at the end of turn ${turn}; what came after is kept as ${kept}.`
  return shape(name, { type: 'rewind', turn }, { result: 'branch', said, isJson: flags.json }, place)
}

export async function switchBranch({ words, flags }: ArgsOf<'switch'>, place: CliContext): Promise<Ended> {
  const [name = '', asked = ''] = words
  const branch = turnOf(asked) ?? asked
  const said = (taken: string) => `The session stands on ${taken}; the line it left is kept.`
  const stays = typeof branch === 'string' ? branch : ''
  return shape(name, { type: 'switchBranch', branch }, { result: 'branch', said, stays, isJson: flags.json }, place)
}

export async function fork({ words, flags }: ArgsOf<'fork'>, place: CliContext): Promise<Ended> {
  const [name = ''] = words
  const at = flags.at === undefined ? undefined : turnOf(flags.at)
  if (at === null) return misused(notTurn('--at', flags.at ?? ''))
  const said = (made: string) => `The new session ${made} shares the past of this one.`
  const command: CommandInput = { type: 'fork', ...(at !== undefined && { at }) }
  return shape(name, command, { result: 'session', said, isJson: flags.json }, place)
}

const turnOf = (text: string): number | null => wholeNumber(text, 0, numberMax)
const notTurn = (where: string, text: string): string => `${where} is the number of a turn, from 0, not '${text}'.`

type Told = {
  /** The field of the answer that is the command's data. */
  readonly result: 'branch' | 'session'
  /** The same as a sentence for people. */
  readonly said: (what: string) => string
  /** What the data is where nothing had to be done, and nothing is told. */
  readonly stays?: string
  readonly isJson: boolean
}

async function shape(
  name: string,
  command: CommandInput,
  { result, said, stays = '', isJson }: Told,
  place: CliContext,
): Promise<Ended> {
  const say = async (answer: Answer) => {
    if (isJson) return place.out.write(`${toJsonText(answer)}\n`)
    const data = escapeLine(String(answer.result[result] ?? stays))
    await place.out.write(`${data}\n`)
    await place.err.write(`${said(data)}\n`)
  }
  return giveCommand(name, command, say, place)
}
