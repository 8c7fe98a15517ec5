import { z } from 'zod'
import { SnapshotFrame } from '../frame/frame.ts'
import { SessionView } from '../view/view.ts'

const { seq, meta, here, summary } = SnapshotFrame.shape

/** The state of a session without its transcript: the fields of its view, and the rest of a snapshot. */
export const StateFields = SessionView.extend({ seq, meta, here, summary })
export type StateFields = z.infer<typeof StateFields>

/** The fields of a session's state that can be read alone. */
export const StateField = StateFields.keyof()
export type StateField = z.infer<typeof StateField>

/** Returns only the named fields of a state. */
export function pickFields<Field extends StateField>(
  state: StateFields,
  fields: readonly Field[],
): Pick<StateFields, Field> {
  const picked = Object.fromEntries(fields.map((field) => [field, state[field]]))
  return picked as Pick<StateFields, Field> // has exactly these fields
}

/** Returns the schema of the named fields. */
export function stateSchema<Field extends StateField>(fields: readonly Field[]): z.ZodType<Pick<StateFields, Field>> {
  const shape = Object.fromEntries(fields.map((field) => [field, StateFields.shape[field]]))
  const schema: z.ZodType<unknown> = z.object(shape)
  return schema as z.ZodType<Pick<StateFields, Field>> // has the schemas of exactly these fields
}
