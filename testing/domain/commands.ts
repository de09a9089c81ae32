import { randomUUID } from 'node:crypto';
import { type CommandContext, handleCommand } from '../../src/deposits/command-handler.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import type { DepositCommand } from '../../src/domain/deposit/commands.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';

/** Returns the context of a command of an arbitrary actor. */
export function anyContext(changes: Partial<CommandContext> = {}): CommandContext {
  const [commandId, correlationId] = [randomUUID(), randomUUID()];
  const actor = { kind: 'client', name: 'alice' } as const;
  return { commandId, correlationId, actor, now: '2026-03-01T10:00:00.000Z', ...changes };
}

export function executeDeposit(log: EventLog, id: number, command: DepositCommand) {
  return handleCommand(log, deposits, id, command, anyContext());
}
