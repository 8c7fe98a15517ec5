import {
  type Answer,
  type CommandInput,
  type FrameOf,
  orThrow,
  type SessionHandle,
  type StateField,
  type StateFields,
  type SubmitOptions,
} from '@holdfast/protocol'

/** Sends commands to a session. Refusals are thrown as `HoldfastError`. */
export const createRequests = (handle: SessionHandle) => ({
  handle,
  /** Returns the result of a command. */
  submit: async (command: CommandInput, options?: SubmitOptions): Promise<Answer['result']> =>
    orThrow(await handle.submit(command, options)).result,
  /** Runs a command whose result is not needed. */
  run: async (command: CommandInput, options?: SubmitOptions): Promise<void> => {
    orThrow(await handle.submit(command, options))
  },
  /** Reads fields of the state, without the transcript. */
  state: async <Field extends StateField>(...fields: readonly Field[]): Promise<Pick<StateFields, Field>> =>
    orThrow(await handle.state(fields)),
  snapshot: async (): Promise<FrameOf<'snapshot'>> => orThrow(await handle.snapshot()),
})

export type Requests = ReturnType<typeof createRequests>
