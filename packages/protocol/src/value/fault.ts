/**
 * Every fault code with its HTTP status. A code never changes its meaning. Each has a row in docs/errors.md, checked
 * by a test. No schema here: workers and `holdfast ls` load this file without zod.
 */
export const faultStatus = {
  bad_id: 400,
  bad_request: 400,
  bad_config: 400,
  bad_workdir: 400,
  empty_prompt: 400,
  bad_boundary: 400,
  no_context: 400,
  elided: 400,
  other_file: 400,
  invalid_role: 400,
  unknown_level: 400,
  unknown_model: 400,
  unauthorized: 401,
  not_driver: 403,
  foreign_attachment: 403,
  outside_workdir: 403,
  private_address: 403,
  network_denied: 403,
  outside_boundary: 403,
  untrusted_workspace: 403,
  wrong_host: 403,
  wrong_origin: 403,
  not_found: 404,
  session_not_found: 404,
  approval_not_found: 404,
  blob_not_found: 404,
  branch_not_found: 404,
  turn_not_found: 404,
  message_not_found: 404,
  queue_entry_not_found: 404,
  command_not_found: 404,
  skill_not_found: 404,
  too_slow: 408,
  turn_running: 409,
  nothing_to_continue: 409,
  nothing_to_compact: 409,
  nothing_to_summarize: 409,
  nothing_to_undo: 409,
  no_pending_approval: 409,
  already_decided: 409,
  driver_taken: 409,
  not_subscribed: 409,
  session_stopped: 409,
  session_trashed: 409,
  session_not_trashed: 409,
  session_in_use: 409,
  import_stopped: 409,
  key_taken: 409,
  handle_taken: 409,
  no_rotation: 409,
  skill_active: 409,
  skill_not_active: 409,
  hook_vetoed: 409,
  over_budget: 409,
  price_unknown: 409,
  no_credentials: 409,
  workdir_needed: 409,
  workdir_elsewhere: 409,
  context_too_large: 409,
  command_seen: 409,
  command_id_reused: 409,
  fenced: 409,
  log_moved: 409,
  log_damaged: 409,
  content_changed: 409,
  not_seen: 409,
  no_match: 409,
  ambiguous: 409,
  already_applied: 409,
  too_large: 413,
  wrong_media_type: 415,
  session_locked: 423,
  queue_full: 429,
  spending_cap: 429,
  too_many_requests: 429,
  too_many_tries: 429,
  internal: 500,
  missing_package: 501,
  sandbox_unavailable: 501,
  summary_failed: 502,
  turn_failed: 502,
  mcp_failed: 502,
  not_a_store: 503,
  store_too_new: 503,
  storage_error: 503,
  unreachable: 503,
  server_busy: 503,
  not_ready: 503,
} as const

/** The code of every fault. docs/errors.md explains each. */
export type FaultCode = keyof typeof faultStatus

/** An expected failure: a stable code, a sentence a person can act on, and details for programs. */
export type Fault = {
  /** The kind of failure, for programs. It never changes its meaning. */
  readonly code: FaultCode
  /** What happened and what to do next, for people. */
  readonly message: string
  /** Facts for programs, such as the ids involved. */
  readonly details?: Record<string, unknown> | undefined
}

/** Creates a fault. */
export const fault = (code: FaultCode, message: string, details?: Record<string, unknown>): Fault =>
  details === undefined ? { code, message } : { code, message, details }

/** Returns the fault for a session that does not exist. `name` is an id, a prefix or a handle. */
export const sessionNotFound = (name: string, details: Record<string, unknown> = { name }): Fault =>
  fault('session_not_found', `There is no session ${name}. List the sessions with holdfast ls.`, details)

/** Returns the fault of a server that cannot run sessions now. */
export const notReady = (reason: 'closing' | 'store' | 'files' | 'owner' | 'timeout', message: string): Fault =>
  fault('not_ready', message, { reason, retryAfterSeconds: 1 })

/** Returns the message of whatever was thrown. */
export const errorMessage = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Each published package has its own copy of the class. The symbol is the same in all of them. */
const errorMark = Symbol.for('holdfast.HoldfastError')

/** A fault as an exception, for methods that throw. */
export class HoldfastError extends Error {
  /** Returns whether a value is a `HoldfastError`, also of another copy of this package: `error instanceof HoldfastError`. */
  static override [Symbol.hasInstance](value: unknown): value is HoldfastError {
    return typeof value === 'object' && value !== null && errorMark in value
  }

  /** Always `HoldfastError`. */
  override readonly name = 'HoldfastError'
  /** The code of the fault. */
  readonly code: FaultCode
  /** Facts for programs, such as the ids involved. */
  readonly details: Record<string, unknown> | undefined

  constructor({ code, message, details }: Fault, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.details = details
  }

  /** Returns the fault as plain data. */
  toFault(): Fault {
    return fault(this.code, this.message, this.details)
  }
}

// On the prototype, so that an error that is printed or compared does not show it.
Object.defineProperty(HoldfastError.prototype, errorMark, { value: true })
