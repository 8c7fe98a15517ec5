import { z } from 'zod'
import { type FaultCode as FaultCodeType, type Fault as FaultType, faultStatus } from './fault.ts'

export const FaultCode = z.enum(Object.keys(faultStatus) as [FaultCodeType, ...FaultCodeType[]]) // the table's keys, which TypeScript widens to string
export type FaultCode = FaultCodeType

/** A fault as it comes from outside. */
export const Fault = z.object({
  code: FaultCode,
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
}) satisfies z.ZodType<FaultType>
export type Fault = FaultType
