import { toSubmission } from '@holdfast/core'
import {
  Answer,
  ClientId,
  Command,
  CommandId,
  commandFault,
  commandTypes,
  fault,
  refuse,
  unknownCommand,
} from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, parse, type Route } from '../http/route.ts'

const commandNames: ReadonlySet<string> = new Set(commandTypes)
const withId = { commandId: CommandId.optional() }

/** A caller without an attachment may command while there is no driver. An admin always may. */
const unattached = ClientId.parse('token:driver')

const postCommand = defineRoute({
  method: 'POST',
  path: '/v1/sessions/:id/commands',
  access: 'token',
  summary: 'Send a command to a session; answers once its records are on stable storage',
  body: z.looseObject({ type: z.string(), ...withId }),
  bodyDescribed: z.union(Command.options.map((option) => option.extend(withId))),
  answers: answersJson(Answer, 202),
  async handle({ session, request, caller, input }, { sessions }) {
    const { commandId, ...fields } = input.body
    if (!commandNames.has(fields.type)) return refuse(fault('bad_request', unknownCommand(fields.type)))
    const command = Command.safeParse(fields)
    if (!command.success) return refuse(commandFault(fields, command.error))
    const as = parse(ClientId.optional(), request.headers.get('holdfast-attachment') ?? undefined)
    if (!as.ok) return as
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const by = as.value ?? (caller === 'admin' ? null : unattached)
    return handle.value.dispatch(toSubmission(command.data, by, commandId))
  },
})

export const commandRoutes: readonly Route[] = [postCommand]
