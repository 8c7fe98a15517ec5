import {
  type CommandInput,
  type CommandResult,
  type CommandType,
  commandResult,
  type FrameOf,
  orThrow,
  type SessionHandle,
  type StateField,
  type StateFields,
  type SubmitOptions,
} from '@holdfast/protocol'

type InputOf<Type extends CommandType> = Extract<CommandInput, { readonly type: Type }>

/** Sends commands to a session. Refusals are thrown as `HoldfastError`. */
export const createRequests = (handle: SessionHandle) => ({
  handle,
  /** Returns the result of a command. `unchanged` has the fields to return if the command changed nothing. */
  submit: async <Type extends CommandType>(
    command: InputOf<Type> & { readonly type: Type },
    options?: SubmitOptions,
    unchanged?: object,
  ): Promise<CommandResult<Type>> =>
    commandResult(command.type, orThrow(await handle.submit(command, options)), unchanged),
  /** Reads fields of the state, without the transcript. */
  state: async <Field extends StateField>(...fields: readonly Field[]): Promise<Pick<StateFields, Field>> =>
    orThrow(await handle.state(fields)),
  snapshot: async (): Promise<FrameOf<'snapshot'>> => orThrow(await handle.snapshot()),
})

export type Requests = ReturnType<typeof createRequests>
