import type { LocalSession } from '@holdfast/core'
import { type FaultCode, ok, type Result, type Sessions, type StateField, type StateFields } from '@holdfast/protocol'
import type { z } from 'zod'
import type { RouteName } from '../auth/roles.ts'
import { nextSlice } from '../streams/byte-stream.ts'
import { answersJson, type Call, defineRoute, type Route } from './route.ts'
import type { ServerParts } from './server-parts.ts'

type NameIn<Route> = Route extends `GET /v1/sessions/:id${infer Name}` ? Name : never

/** The end of the path of a route that reads something of one session. */
type ReadName = NameIn<RouteName>

type ReadParts = Pick<ServerParts, 'paths' | 'fileAccess'>

/** Defines a route that reads something of one session. */
export function defineRead<Query = unknown>(
  name: ReadName,
  summary: string,
  schema: z.ZodType,
  read: (handle: LocalSession, call: Call<Query, unknown>, parts: ReadParts) => Promise<Result<unknown>>,
  query?: z.ZodType<Query>,
  refuses: readonly FaultCode[] = [],
): Route {
  return defineRoute<Query>({
    on: `GET /v1/sessions/:id${name}`,
    summary,
    ...(query && { query }),
    answers: answersJson(schema),
    refuses,
    async handle(call, { sessions, outbox, paths, fileAccess }) {
      const handle = await sessions.open(call.session)
      if (!handle.ok) return handle
      const place = await outbox.enter('page')
      if (!place.ok) return place
      try {
        const answer = await read(handle.value, call, { paths, fileAccess })
        await nextSlice() // reading and encoding a large page are two steps
        return answer
      } finally {
        place.value()
      }
    },
  })
}

/** Defines a route that reads fields of the state of one session. Its answer is small, so it waits for no page. */
export function defineStateRead<Field extends StateField>(
  name: ReadName,
  summary: string,
  schema: z.ZodType,
  fields: readonly Field[],
  show: (state: Pick<StateFields, Field>) => unknown,
): Route {
  return defineRoute({
    on: `GET /v1/sessions/:id${name}`,
    summary,
    answers: answersJson(schema),
    handle: async ({ session }, { sessions }) => {
      const state = await readState(sessions, session, fields)
      return state.ok ? ok(show(state.value)) : state
    },
  })
}

/** Reads fields of the state of one session. */
export async function readState<Field extends StateField>(
  sessions: Sessions,
  name: string,
  fields: readonly Field[],
): Promise<Result<Pick<StateFields, Field>>> {
  const handle = await sessions.open(name)
  return handle.ok ? handle.value.state(fields) : handle
}
