import fc, { type Arbitrary } from 'fast-check'
import { leave, sit } from '../family/seats.ts'
import type { Client, Seat } from '../state.ts'
import { type Deed, silently } from '../story.ts'

/** A client opens the session on a screen of its. */
export const attach = (client: Client, role: Seat['role'] | null = null): Deed => ({
  code: `attach('${client}', ${role === null ? 'null' : `'${role}'`})`,
  bind: (_, real) => ({
    perform: silently(() => real.attach(client, role)),
    steps: [(state) => ({ says: null, state: sit(state, client, role) })],
  }),
})

/** It closes one again. */
export const detach = (client: Client): Deed => ({
  code: `detach('${client}')`,
  isApt: ({ seats }) => seats.some((seat) => seat.client === client),
  bind: ({ state: { seats } }, real) =>
    seats.some((seat) => seat.client === client)
      ? {
          perform: silently(() => real.detach(client)),
          steps: [(state) => ({ says: null, state: leave(state, client) })],
        }
      : null,
})

const aClient = fc.constantFrom<Client[]>('ann', 'bob')

export const comingAndGoing: Arbitrary<Deed> = fc.oneof(
  fc
    .tuple(aClient, fc.constantFrom<(Seat['role'] | null)[]>(null, null, 'driver', 'viewer'))
    .map(([client, role]) => attach(client, role)),
  aClient.map(detach),
)
