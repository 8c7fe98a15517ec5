import { z } from 'zod'
import { clip } from '../event/text-of.ts'
import { escapeLine } from '../text/hostile-text.ts'
import { didYouMean, nearest } from '../text/nearest.ts'
import type { Content } from '../value/content.ts'
import { type Fault, fault } from '../value/fault.ts'
import { ok, type Result, refuse } from '../value/result.ts'
import { Command, type CommandInput } from './command.ts'

/** A command that people type after a slash. */
export const SlashCommand = z.object({
  /** Its name, without the slash. */
  name: z.string(),
  /** What it does. */
  description: z.string(),
  /** The arguments it takes, as they are shown to people; null if it takes none or does not say. */
  arguments: z.string().nullable(),
  /** Where it comes from. */
  source: z.enum(['built-in', 'skill', 'file', 'server']),
  /** Whose it is; null if it is built in. */
  scope: z.enum(['user', 'workspace']).nullable(),
  /** The file it comes from, or that configures its server; null if it is built in. */
  path: z.string().nullable(),
})
export type SlashCommand = z.infer<typeof SlashCommand>

export const SlashCommandList = z.object({ commands: z.array(SlashCommand) })

/** A name that can be typed after a slash. In a text such as `/etc/hosts is empty` there is none. */
export const slashName = /^[A-Za-z0-9][\w.:-]{0,99}$/
const typed = /^\/(\S+)(?:\s+([\s\S]*))?$/

/** What a person typed: the name of a command, and what follows it. */
export type TypedCommand = { readonly name: string; readonly given: string; readonly typed: string }

/** Returns the slash command that a prompt begins with; null for any other prompt. */
export function findTypedCommand(content: Content): TypedCommand | null {
  const [first] = content
  const match = first?.type === 'text' ? typed.exec(first.text) : null
  const [whole, name, given = ''] = match ?? []
  return whole === undefined || name === undefined || !slashName.test(name)
    ? null
    : { name, given: given.trim(), typed: whole.trim() }
}

type BuiltIn = {
  readonly description: string
  readonly arguments: string | null
  /** Returns the command of the session that it stands for; null if what was given makes no sense. */
  readonly toCommand: (given: string) => CommandInput | null
}

const withoutArguments = (description: string, command: CommandInput): BuiltIn => ({
  description,
  arguments: null,
  toCommand: (given) => (given === '' ? command : null),
})
const withText = (description: string, named: string, toCommand: (given: string) => CommandInput): BuiltIn => ({
  description,
  arguments: named,
  toCommand: (given) => (given === '' ? null : toCommand(given)),
})
const withTurn = (description: string, type: 'branchAt' | 'rewind'): BuiltIn => ({
  description,
  arguments: '<turn>',
  toCommand: (given) => (/^\d{1,9}$/.test(given) ? { type, turn: Number(given) } : null),
})

/** The slash commands that stand for a command of the session. They run at once, also during a turn. */
export const builtInCommands: ReadonlyMap<string, BuiltIn> = new Map(
  Object.entries({
    plan: withoutArguments('plan only: refuse tools that change something', { type: 'enterPlan' }),
    exec: withoutArguments('leave plan mode', { type: 'enterExec' }),
    compact: withoutArguments('replace old messages by a summary in the context', { type: 'compact' }),
    summarize: withoutArguments('write a summary of the session to a file', { type: 'summarize' }),
    model: withText('use another model', '<provider/model>', (model) => ({ type: 'setModel', model })),
    think: withText('set how much the model thinks', '<off|low|medium|high>', (level) => ({
      type: 'setThinkingLevel',
      level: level as 'off', // parsed like any command
    })),
    branch: withTurn('go back to the end of a turn; later ones are saved as a branch', 'branchAt'),
    rewind: withTurn('go back to the end of a turn, because later ones were wrong', 'rewind'),
    switch: withText('switch to a saved branch', '<branch>', (branch) => ({ type: 'switchBranch', branch })),
    rename: withText('give the session a title', '<title>', (title) => ({ type: 'rename', title })),
    pin: withoutArguments('list the session first, or no longer', { type: 'pinSession' }),
  } satisfies Readonly<Record<string, BuiltIn>>),
)

/** Returns the command of the session that a prompt stands for; null if it is none. Refused: bad_request. */
export function readBuiltIn(content: Content): { readonly name: string; readonly command: Result<Command> } | null {
  const found = findTypedCommand(content)
  const builtIn = found && builtInCommands.get(found.name)
  if (!found || !builtIn) return null
  const { name, given } = found
  const input = content.length > 1 ? null : builtIn.toCommand(given)
  const command = input && Command.safeParse(input)
  return { name, command: command?.success ? ok(command.data) : refuse(wrongUse(name, builtIn)) }
}

const wrongUse = (name: string, { arguments: named, description }: BuiltIn): Fault =>
  fault(
    'bad_request',
    named === null ? `/${name} takes no arguments: ${description}.` : `Write /${name} ${named}: ${description}.`,
    { name },
  )

/**
 * Returns the fault for a slash command that does not exist. Null for a prompt that is more likely a text, such as `/tmp is
 * full`: something follows the name, and no command has a name like it.
 */
export const noSuchCommand = (
  { name, given }: Pick<TypedCommand, 'name' | 'given'>,
  known: readonly string[],
): Fault | null => {
  if (given !== '' && nearest(name, known) === null) return null
  const shown = escapeLine(clip(name, 100))
  const hint = didYouMean(
    `/${name}`,
    known.map((one) => `/${one}`),
  )
  const message = `There is no command /${shown}.${hint || ' /help lists them.'} To send this as a text, begin with a space.`
  return fault('command_not_found', message, { name: shown })
}
