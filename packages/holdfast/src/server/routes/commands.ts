import { toSubmission } from '@holdfast/core'
import {
  Answer,
  ClientId,
  Command,
  CommandId,
  commandFault,
  commandTypes,
  fault,
  ok,
  refuse,
  unknownCommand,
} from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute, parse } from '../http/route.ts'

const named = { commandId: CommandId.optional() }
/** Whoever commands without an attachment is a stranger to the seats: heard while nobody drives. An admin is always heard. */
const unattached = ClientId.parse('token:driver')

export const postCommand = defineRoute({
  method: 'POST',
  path: '/v1/sessions/:id/commands',
  access: 'token',
  summary: 'Give a session a command; answered once its records would survive a power cut',
  body: z.looseObject({ type: z.string(), ...named }),
  bodyDescribed: z.union(Command.options.map((option) => option.extend(named))),
  answers: { status: 202, mediaType: 'application/json', schema: Answer },
  async handle({ session, request, caller, input }, { sessions }) {
    const { commandId, ...fields } = input.body
    if (!commandTypes.some((type) => type === fields.type)) {
      return refuse(fault('bad_request', unknownCommand(fields.type)))
    }
    const command = Command.safeParse(fields)
    if (!command.success) return refuse(commandFault(fields, command.error))
    const as = parse(ClientId.optional(), request.headers.get('holdfast-attachment') ?? undefined)
    if (!as.ok) return as
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const by = as.value ?? (caller === 'admin' ? null : unattached)
    const answer = await handle.value.dispatch(toSubmission(command.data, by, commandId))
    return answer.ok ? ok(Response.json(answer.value, { status: 202 })) : answer
  },
})
