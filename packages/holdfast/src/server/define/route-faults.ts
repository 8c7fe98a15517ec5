import type { FaultCode } from '@holdfast/protocol'
import { z } from 'zod'
import type { DeclaredAccess } from '../auth/authorize.ts'
import type { DeclaredAnswer } from './route.ts'

/** What a route is like, as far as it decides which codes it shares with others. */
type Kind = {
  readonly access: DeclaredAccess
  readonly path: string
  readonly answers: DeclaredAnswer
  readonly querySchema: z.ZodType
  readonly takesJson: boolean
  readonly takesBytes: boolean
}

const ofAnyRoute = ['bad_request', 'too_slow', 'wrong_host', 'wrong_origin', 'storage_error', 'internal'] as const
const withToken = ['unauthorized', 'not_driver', 'too_many_tries', 'too_many_requests'] as const
const withJson = ['wrong_media_type', 'too_large', 'bad_workdir', 'server_busy'] as const
const withBytes = ['too_large', 'server_busy'] as const
/** A session is found by its name and loaded, here or by the process that runs it. */
export const sessionFaults = [
  ...(['bad_id', 'session_not_found', 'session_trashed', 'session_stopped', 'session_locked'] as const),
  'workdir_elsewhere' as const,
  ...(['log_damaged', 'log_moved', 'fenced', 'store_too_new', 'unreachable', 'server_busy'] as const),
]

/** Returns every code that a route may refuse with: those of its kind, and its own. */
export function declareFaults(kind: Kind, own: readonly FaultCode[] = []): ReadonlySet<FaultCode> {
  return new Set<FaultCode>([
    ...ofAnyRoute,
    ...(kind.access.role === 'open' ? [] : withToken),
    ...(kind.takesJson ? withJson : []),
    ...(kind.takesBytes ? withBytes : []),
    ...(namesFolder(kind.querySchema) ? (['bad_workdir'] as const) : []),
    ...(kind.path.includes('/:id') ? sessionFaults : []),
    ...(kind.answers.mediaType === 'application/json' ? (['too_large'] as const) : []),
    ...own,
  ])
}

const namesFolder = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodObject && ('workspace' in schema.shape || 'workdir' in schema.shape)
