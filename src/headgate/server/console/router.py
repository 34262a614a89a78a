"""Every page of the console, with what each of them has: the visitor, headers, and pages for errors."""

from litestar import Router
from litestar.di import Provide

from headgate.server.console.error_pages import ANSWER_PAGES
from headgate.server.console.routes import (
    access_pages,
    activity_pages,
    handover_pages,
    issuer_sign_in,
    lake_pages,
    maintenance_pages,
    race_page,
    rules_pages,
    sign_in,
    static_files,
    table_pages,
    version_pages,
)
from headgate.server.console.security_headers import SecurityHeaders
from headgate.server.console.visit import provide_asked, provide_form, provide_visit

ROUTER = Router(
    path="/",
    route_handlers=[
        sign_in.show_sign_in,
        sign_in.sign_in,
        sign_in.sign_out,
        issuer_sign_in.begin_sign_in,
        issuer_sign_in.finish_sign_in,
        static_files.show_file,
        static_files.show_icon,
        lake_pages.show_home,
        lake_pages.lead_home,
        lake_pages.show_lake,
        lake_pages.show_tables,
        lake_pages.show_activity,
        lake_pages.follow_lake,
        table_pages.show_table,
        table_pages.show_rows,
        table_pages.show_files,
        table_pages.show_versions,
        version_pages.show_version,
        version_pages.compare_versions,
        activity_pages.show_events,
        activity_pages.show_conflicts,
        race_page.show_race,
        activity_pages.show_transactions,
        access_pages.show_grants,
        access_pages.change_grants,
        access_pages.confirm_grants,
        rules_pages.show_rules,
        rules_pages.rehearse_commit,
        maintenance_pages.show_lake_maintenance,
        maintenance_pages.show_maintenance,
        maintenance_pages.change_maintenance,
        maintenance_pages.confirm_maintenance,
        maintenance_pages.show_check,
        maintenance_pages.repair_table,
        maintenance_pages.confirm_repair,
        handover_pages.show_adoption,
        handover_pages.adopt_table,
        handover_pages.confirm_adoption,
        handover_pages.show_release,
        handover_pages.release_table,
        handover_pages.confirm_release,
    ],
    dependencies={
        "visit": Provide(provide_visit, sync_to_thread=True),
        "form": Provide(provide_form),
        "asked": Provide(provide_asked, sync_to_thread=False),
    },
    middleware=[SecurityHeaders()],
    exception_handlers=ANSWER_PAGES,
    include_in_schema=False,
)
