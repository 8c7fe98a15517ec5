import { fault, ok, type Result, Role, refuse } from '@holdfast/protocol'

/** The role someone asks for, if they do. Refused: invalid_role. */
export function readRole(role: string | undefined): Result<Role | undefined> {
  const asked = Role.optional().safeParse(role)
  if (asked.success) return ok(asked.data)
  return refuse(fault('invalid_role', `There is no role ${role}. A role is driver or viewer.`))
}
