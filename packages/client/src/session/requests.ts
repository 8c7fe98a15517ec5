import {
  type Answer,
  type CommandInput,
  type CommandOptions,
  type CommandResult,
  type CommandType,
  commandResult,
  type FrameOf,
  orThrow,
  parseCommand,
  type SessionHandle,
  type StateField,
  type StateFields,
} from '@holdfast/protocol'
import { readOptions } from './arguments.ts'

const commandOptions = ['commandId', 'as'] as const

type InputOf<Type extends CommandType> = Extract<CommandInput, { readonly type: Type }>

/** Sends a command. A server refuses a text with an unpaired surrogate, so it is refused here too: bad_request. */
async function send(handle: SessionHandle, command: CommandInput, options?: CommandOptions): Promise<Answer> {
  if (options !== undefined) readOptions(options, commandOptions)
  orThrow(parseCommand(command))
  return orThrow(await handle.submit(command, options))
}

/** Sends commands to a session. Refusals are thrown as `HoldfastError`. */
export const createRequests = (handle: SessionHandle) => ({
  handle,
  /** Returns the result of a command. `unchanged` has the fields to return if the command changed nothing. */
  submit: async <Type extends CommandType>(
    command: InputOf<Type> & { readonly type: Type },
    options?: CommandOptions,
    unchanged?: object,
  ): Promise<CommandResult<Type>> => commandResult(command.type, await send(handle, command, options), unchanged),
  /** Does the same with options that are fields of the command: `own` names them. */
  submitWith: async <Type extends CommandType, Options extends CommandOptions>(
    command: InputOf<Type> & { readonly type: Type },
    options: Options | undefined,
    own: readonly Exclude<keyof Options & string, keyof CommandOptions>[],
  ): Promise<CommandResult<Type>> => {
    const { commandId, as, ...fields } = readOptions<CommandOptions>(options, [...commandOptions, ...own])
    const set = Object.entries(fields).filter(([, value]) => value !== undefined)
    const given = Object.fromEntries(set)
    const answer = await send(handle, { ...command, ...given }, { commandId, as })
    return commandResult(command.type, answer, given)
  },
  /** Reads fields of the state, without the transcript. */
  state: async <Field extends StateField>(...fields: readonly Field[]): Promise<Pick<StateFields, Field>> =>
    orThrow(await handle.state(fields)),
  snapshot: async (): Promise<FrameOf<'snapshot'>> => orThrow(await handle.snapshot()),
})

export type Requests = ReturnType<typeof createRequests>
