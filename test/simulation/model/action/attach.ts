import fc, { type Arbitrary } from 'fast-check'
import { attachClient, detachClient } from '../family/driver.ts'
import { type Action, silently } from '../model-run.ts'
import type { AttachedClient, Client } from '../state.ts'

/** Attaches a client. */
export const attach = (client: Client, role: AttachedClient['role'] | null = null): Action => ({
  code: `attach('${client}', ${role === null ? 'null' : `'${role}'`})`,
  bind: (_, real) => ({
    perform: silently(() => real.attach(client, role)),
    steps: [(state) => ({ says: null, state: attachClient(state, client, role) })],
  }),
})

/** Detaches a client. */
export const detach = (client: Client): Action => ({
  code: `detach('${client}')`,
  isApt: ({ attachments }) => attachments.some((attachment) => attachment.client === client),
  bind: ({ state: { attachments } }, real) =>
    attachments.some((attachment) => attachment.client === client)
      ? {
          perform: silently(() => real.detach(client)),
          steps: [(state) => ({ says: null, state: detachClient(state, client) })],
        }
      : null,
})

const aClient = fc.constantFrom<Client[]>('ann', 'bob')

export const anAttachOrDetach: Arbitrary<Action> = fc.oneof(
  fc
    .tuple(aClient, fc.constantFrom<(AttachedClient['role'] | null)[]>(null, null, 'driver', 'viewer'))
    .map(([client, role]) => attach(client, role)),
  aClient.map(detach),
)
